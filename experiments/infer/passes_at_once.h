// Decides how many batches may pass a network at the same time: one for each CPU, if their memory fits.
#ifndef OPENSET_EXPERIMENTS_INFER_PASSES_AT_ONCE_H_
#define OPENSET_EXPERIMENTS_INFER_PASSES_AT_ONCE_H_

#include <cstdint>
#include <functional>
#include <optional>

namespace openset {

// The first pass runs alone, and its memory is measured. Later passes may together take half of the memory that is free
// at that time.
class PassesAtOnce {
 public:
  // These return bytes: the free memory, the memory of this process, and its peak. Tests set them.
  struct Memory {
    std::function<int64_t()> free, used, peak;
  };

  PassesAtOnce();
  explicit PassesAtOnce(Memory memory) : memory_(memory) {}

  // From 1 to `cpus`; 1 before the first pass has ended.
  int Count(int cpus) const;

  // Call these before and after each group of passes.
  void Begin();
  void End();

 private:
  Memory memory_;
  int64_t used_before_ = 0;
  std::optional<int64_t> most_;  // once the first pass is measured
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_PASSES_AT_ONCE_H_
