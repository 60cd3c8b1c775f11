// What a network takes unknown samples for: the mean softmax output of each unknown class (Kim et al. 2023, Fig. 7).
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_SOFTMAX_MAP_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_SOFTMAX_MAP_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/chart/heat_map.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/store/outputs.h"

namespace openset {

// Rows are unknown classes of a set, columns known ones, at most `most` of each: the mean over the class's test samples
// of softmax over all outputs. Of data sets whose classes have groups (CIFAR-100's superclasses) one class of each
// group is taken, the first, then a second one of each, and so on; they are shown group by group, so that in a set of
// the same data set equal places are of the same group. Of others classes are taken evenly spread. `set` "" is the only
// set there is. Errors: kInvalidArgument for a set that is not there, with the known ones, and for outputs that are not
// those of `data`; those of Catalog::Find().
absl::StatusOr<HeatMap> MeanSoftmax(const Outputs& outputs, const TaskData& data, const std::string& set,
                                    const Catalog& catalog, int most);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_SOFTMAX_MAP_H_
