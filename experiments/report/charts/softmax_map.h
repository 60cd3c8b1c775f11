// Which known classes a network confuses unknown samples with: the mean softmax output of each unknown class (Kim et
// al. 2023, Fig. 7).
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_SOFTMAX_MAP_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_SOFTMAX_MAP_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/chart/vega_lite.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/store/outputs.h"

namespace openset {

// The rows are unknown classes of a set and the columns known classes, at most `most` of each. A cell is the mean, over
// the unknown class's test samples, of the softmax over all outputs. If the classes of a data set have groups
// (CIFAR-100's superclasses), the first class of each group is chosen, then the second of each, and so on; they are
// shown group by group, so that equal indices mean equal groups in a set of the same data set. Otherwise, evenly spaced
// classes are chosen. If `set` is "", there must be only one set. Errors: kInvalidArgument for an unknown set, with the
// known ones, and if the outputs don't belong to `data`; an error of the data (data/sets/data_set.h), of which
// kNotFound says that the catalog lacks a data set.
absl::StatusOr<HeatMap> MeanSoftmax(const Outputs& outputs, const TaskData& data, const std::string& set,
                                    const Catalog& catalog, int most);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_SOFTMAX_MAP_H_
