#include "data/splits/split_digest.h"

#include <algorithm>

#include "core/proto/proto_digest.h"
#include "core/proto/proto_rules.h"

namespace openset {
namespace {

void ClearLimits(Selection* selection) {
  selection->clear_limit_per_class();
  selection->clear_without_last_per_class();
  selection->clear_only_last_per_class();
}

TaskData WithoutLimits(const TaskData& data) {
  TaskData split = data;
  split.clear_external();
  split.clear_validation_known();
  split.clear_validation_unknown();
  ClearLimits(split.mutable_train());
  ClearLimits(split.mutable_test_known());
  for (UnknownGroup& group : *split.mutable_test_unknown()) ClearLimits(group.mutable_selection());
  for (ShiftedGroup& group : *split.mutable_test_shifted()) ClearLimits(group.mutable_selection());
  FillDefaults(&split);
  return split;
}

void Sort(Selection* selection) {
  std::sort(selection->mutable_class_id()->begin(), selection->mutable_class_id()->end());
  selection->clear_label();
}

}  // namespace

std::string SplitDigest(const TaskData& data) { return MessageDigest(WithoutLimits(data)); }

std::string DrawDigest(const TaskData& data) {
  TaskData split = WithoutLimits(data);
  Sort(split.mutable_train());
  Sort(split.mutable_test_known());
  for (UnknownGroup& group : *split.mutable_test_unknown()) Sort(group.mutable_selection());
  for (ShiftedGroup& group : *split.mutable_test_shifted()) Sort(group.mutable_selection());
  return MessageDigest(split);
}

}  // namespace openset
