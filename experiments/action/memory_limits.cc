#include "experiments/action/memory_limits.h"

#include "google/protobuf/descriptor.h"

namespace openset {

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
