// Which unknown samples results are reported for.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_METRIC_GROUPS_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_METRIC_GROUPS_H_

#include <string>
#include <vector>

#include "data/task.pb.h"
#include "experiments/store/record.proto.h"

namespace openset {

// The name of the pool in tables and files.
inline constexpr char kPool[] = "pool";

// In the order of records and tables: the pool; where there are two or more sets of unknown test samples also each set,
// then the means over the near and over the far ones if there are such.
std::vector<MetricGroup> MetricGroupsOf(const TaskData& data);

// Unknown test classes, of all sets: the level of openness.
int CountUnknownClasses(const TaskData& data);

// "pool", a set's name, "mean of near", "mean of far". No set has one of the others' names (data/task.h).
std::string GroupText(const MetricGroup& group);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_METRIC_GROUPS_H_
