// How many batches may pass a network at the same time: as many as there are CPUs for, if their memory fits.
#ifndef OPENSET_EXPERIMENTS_INFER_PASSES_AT_ONCE_H_
#define OPENSET_EXPERIMENTS_INFER_PASSES_AT_ONCE_H_

#include <cstdint>
#include <functional>

namespace openset {

// Measures the memory of the first pass, which is alone, and lets the passes after it take half of what is free.
class PassesAtOnce {
 public:
  // In bytes: what is free, what this process uses, and the most that it has used. Tests set them.
  struct Memory {
    std::function<int64_t()> free, used, peak;
  };

  PassesAtOnce();
  explicit PassesAtOnce(Memory memory) : memory_(memory) {}

  // From 1 to `cpus`; 1 until a pass was measured.
  int Count(int cpus) const;

  // A pass of one batch begins and has ended. Only the first is measured.
  void Begin();
  void End();

 private:
  Memory memory_;
  bool is_measured_ = false;
  int64_t used_before_ = 0;
  int64_t most_ = 1;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_PASSES_AT_ONCE_H_
