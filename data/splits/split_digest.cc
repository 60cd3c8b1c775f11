#include "data/splits/split_digest.h"

#include "core/proto/proto_digest.h"
#include "core/proto/proto_rules.h"

namespace openset {
namespace {

void ClearLimits(Selection* selection) {
  selection->clear_limit_per_class();
  selection->clear_without_last_per_class();
  selection->clear_only_last_per_class();
}

}  // namespace

std::string SplitDigest(const TaskData& data) {
  TaskData split = data;
  split.clear_external();
  split.clear_validation_known();
  split.clear_validation_unknown();
  ClearLimits(split.mutable_train());
  ClearLimits(split.mutable_test_known());
  for (UnknownGroup& group : *split.mutable_test_unknown()) ClearLimits(group.mutable_selection());
  for (ShiftedGroup& group : *split.mutable_test_shifted()) ClearLimits(group.mutable_selection());
  FillDefaults(&split);
  return MessageDigest(split);
}

}  // namespace openset
