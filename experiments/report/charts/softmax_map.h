// Shows as which known classes a network classifies unknown samples: the mean softmax output of each unknown class (Kim
// et al. 2023, Fig. 7).
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_SOFTMAX_MAP_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_SOFTMAX_MAP_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/chart/heat_map.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/store/outputs.h"

namespace openset {

// Rows are unknown classes of a group, columns are known classes, at most `most` of each. A cell is the mean of the
// softmax over all outputs, over the class's test samples. If the classes of a data set have groups (CIFAR-100's
// superclasses), one class of each superclass is taken first, then a second one of each, and so on; they are shown
// superclass by superclass, so that for unknown classes of the same data set equal positions have the same superclass.
// Other classes are taken evenly spaced. `set` names the group of unknown samples; "" is the only one. Errors:
// kInvalidArgument if there is no such group (the message lists the existing ones), or if the outputs don't belong to
// `data`; those of Catalog::Find().
absl::StatusOr<HeatMap> MeanSoftmax(const Outputs& outputs, const TaskData& data, const std::string& set,
                                    const Catalog& catalog, int most);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_SOFTMAX_MAP_H_
