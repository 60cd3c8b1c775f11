// By which name a record's metric is found.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_MEASURED_NAME_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_MEASURED_NAME_H_

#include <string>

#include "absl/strings/string_view.h"
#include "experiments/store/record.proto.h"

namespace openset {

// What MetricName() calls the metric by now. Records of before levels were part of names (eval/metrics/level_name.h)
// have another one: "ccr_at_fpr", of which their specs still say the level.
std::string MeasuredName(const MetricRecord& metric);

// Whether `name` is MeasuredName().
bool IsMeasured(const MetricRecord& metric, absl::string_view name);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_MEASURED_NAME_H_
