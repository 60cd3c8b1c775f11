#include "experiments/infer/passes_at_once.h"

#include <algorithm>

#include "core/machine/machine.h"

namespace openset {

PassesAtOnce::PassesAtOnce() : PassesAtOnce(Memory{FreeMemoryBytes, UsedMemoryBytes, PeakMemoryBytes}) {}

int PassesAtOnce::Count(int cpus) const { return static_cast<int>(std::clamp<int64_t>(cpus, 1, most_.value_or(1))); }

void PassesAtOnce::Begin() {
  if (!most_.has_value()) used_before_ = memory_.used();
}

void PassesAtOnce::End() {
  if (most_.has_value()) return;
  // If the process used more before, the pass needed less.
  const int64_t of_a_pass = std::max<int64_t>(1, memory_.peak() - used_before_);
  most_ = 1 + memory_.free() / 2 / of_a_pass;
}

}  // namespace openset
