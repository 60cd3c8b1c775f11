// The name by which a record's metric is found.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_MEASURED_NAME_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_MEASURED_NAME_H_

#include <string>

#include "absl/strings/string_view.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Returns the current MetricName() of the metric. Older records, made before levels were part of names
// (eval/metrics/names/level_name.h), contain names such as "ccr_at_fpr", but their specs contain the level.
std::string MeasuredName(const MetricRecord& metric);

// The same with the group of the metric, if that is not the pool: "auroc of mnist".
std::string MeasuredNameInGroup(const MetricRecord& metric);

// Whether `name` is MeasuredName().
bool IsMeasured(const MetricRecord& metric, absl::string_view name);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_MEASURED_NAME_H_
