#include "experiments/action/stage.h"

#include "core/files/files.h"
#include "core/status_macros.h"
#include "google/protobuf/descriptor.h"

namespace openset {

// Defined in train.cc, infer.cc, evaluate.cc and choose.cc.
const Stage& TrainStage();
const Stage& InferStage();
const Stage& EvaluateStage();
const Stage& ChooseStage();

const Stage& StageOf(ActionKind kind) {
  switch (kind) {
    case ActionKind::kTrain:
      return TrainStage();
    case ActionKind::kInfer:
      return InferStage();
    case ActionKind::kEvaluate:
      return EvaluateStage();
    case ActionKind::kChoose:
      return ChooseStage();
  }
  return ChooseStage();
}

Demand Stage::NeedsOfPasses(const Trial& trial, int64_t memory_mb) {
  const ExecutionSpec& execution = trial.execution();
  if (execution.device() == ExecutionSpec::CUDA) return {.gpu_shares = 1, .memory_mb = memory_mb};
  return {.cpu_threads = execution.threads(), .memory_mb = memory_mb};
}

absl::StatusOr<std::string> Stage::Quarantine(const Store& store, const std::string& key,
                                              const std::string& reason) const {
  return store.Quarantine(ResultPath(store, key), reason);
}

bool Stage::HasSavedState(const Store& store, const std::string& key) const {
  return SavesState() && (FileExists(store.PartialPath(key)) || FileExists(store.WorkFolder(key)));
}

absl::Status Stage::RemoveSavedState(const Store& store, const std::string& key) const {
  if (!SavesState()) return absl::OkStatus();
  OPENSET_RETURN_IF_ERROR(store.Remove(store.PartialPath(key)));
  return store.Remove(store.WorkFolder(key));
}

absl::Status Stage::Remove(const Store& store, const std::string& key) const {
  OPENSET_RETURN_IF_ERROR(RemoveSavedState(store, key));
  const std::string result = ResultPath(store, key);
  return result.empty() ? absl::OkStatus() : store.Remove(result);
}

bool IsAnySet(const ActionMemory& memory) {
  for (int f = 0; f < ActionMemory::descriptor()->field_count(); ++f) {
    if (memory.GetReflection()->GetInt64(memory, ActionMemory::descriptor()->field(f)) > 0) return true;
  }
  return false;
}

void FillMemory(int64_t megabytes, ActionMemory* memory) {
  for (int f = 0; f < ActionMemory::descriptor()->field_count(); ++f) {
    const google::protobuf::FieldDescriptor* const field = ActionMemory::descriptor()->field(f);
    if (memory->GetReflection()->GetInt64(*memory, field) == 0) {
      memory->GetReflection()->SetInt64(memory, field, megabytes);
    }
  }
}

}  // namespace openset
