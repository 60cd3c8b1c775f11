// The number of threads of LibTorch's operations.
#ifndef OPENSET_CORE_TENSOR_TORCH_THREADS_H_
#define OPENSET_CORE_TENSOR_TORCH_THREADS_H_

namespace openset {

// During its lifetime, LibTorch's operations that this thread starts use no other threads. For work that already runs
// in its own threads (core/in_parallel.h): otherwise each of these would start a team of threads, which occupy CPUs
// while they wait.
class OneThreadScope {
 public:
  OneThreadScope();
  ~OneThreadScope();
  OneThreadScope(const OneThreadScope&) = delete;
  OneThreadScope& operator=(const OneThreadScope&) = delete;

 private:
  const int before_;
};

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TORCH_THREADS_H_
