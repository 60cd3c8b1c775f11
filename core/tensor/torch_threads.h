// In how many threads LibTorch's operations run.
#ifndef OPENSET_CORE_TENSOR_TORCH_THREADS_H_
#define OPENSET_CORE_TENSOR_TORCH_THREADS_H_

namespace openset {

// While it lives, LibTorch's operations that this thread starts run in it alone, whatever other threads' do. For pieces
// of work that are in threads of their own already (core/in_parallel.h): otherwise each would start a team, whose
// members take a CPU while they wait.
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
