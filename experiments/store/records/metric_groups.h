// The groups of unknown samples that results are reported for, and the names of results by metric and group.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_METRIC_GROUPS_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_METRIC_GROUPS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "data/task.pb.h"
#include "experiments/store/record.proto.h"

namespace openset {

// ---- The groups of unknown samples that results are reported for.

// The name of the pool in tables and files.
inline constexpr char kPool[] = "pool";

// Returns the groups in the order of records and tables: the pool; if there are two or more sets of unknown test
// samples, also each set, then the means over the near and over the far sets if there are any.
std::vector<MetricGroup> MetricGroupsOf(const TaskData& data);

// Returns the number of unknown test classes in all sets: the level of openness.
int CountUnknownClasses(const TaskData& data);

// Returns "pool", a set's name, "mean of near" or "mean of far". No set may have one of the other names (data/task.h).
std::string GroupText(const MetricGroup& group);

// ---- The name by which a record's metric is found.

// Returns the current MetricName() of the metric. Older records, made before levels were part of names
// (eval/metrics/metric.h), contain names such as "ccr_at_fpr", but their specs contain the level.
std::string MeasuredName(const MetricRecord& metric);

// The same with the group of the metric, if that is not the pool: "auroc of mnist".
std::string MeasuredNameInGroup(const MetricRecord& metric);

// Whether `name` is MeasuredName().
bool IsMeasured(const MetricRecord& metric, absl::string_view name);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_METRIC_GROUPS_H_
