#include "core/tensor/torch_threads.h"

#include <omp.h>

#include "core/tensor/torch_runtime.h"

namespace openset {

// LibTorch uses OpenMP's number, of which each thread has its own. at::set_num_threads would also set it for new
// threads.
OneThreadScope::OneThreadScope() : before_(at::get_num_threads()) { omp_set_num_threads(1); }
OneThreadScope::~OneThreadScope() { omp_set_num_threads(before_); }

}  // namespace openset
