#include "experiments/infer/passes_at_once.h"

#include <algorithm>

#include "core/process/machine.h"

namespace openset {

PassesAtOnce::PassesAtOnce() : PassesAtOnce(Memory{FreeMemoryBytes, UsedMemoryBytes, PeakMemoryBytes}) {}

int PassesAtOnce::Count(int cpus) const { return static_cast<int>(std::clamp<int64_t>(cpus, 1, most_)); }

void PassesAtOnce::Begin() {
  if (!is_measured_) used_before_ = memory_.used();
}

void PassesAtOnce::End() {
  if (is_measured_) return;
  is_measured_ = true;
  // If the process used more before, the pass needed less.
  const int64_t of_a_pass = std::max<int64_t>(1, memory_.peak() - used_before_);
  most_ = 1 + memory_.free() / 2 / of_a_pass;
}

}  // namespace openset
