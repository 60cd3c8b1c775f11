#include "core/tensor/torch_threads.h"

#include <omp.h>

#include "core/tensor/torch_runtime.h"

namespace openset {

// LibTorch's number is that of OpenMP, one for each thread. at::set_num_threads would set that of threads to come, too.
OneThreadScope::OneThreadScope() : before_(at::get_num_threads()) { omp_set_num_threads(1); }
OneThreadScope::~OneThreadScope() { omp_set_num_threads(before_); }

}  // namespace openset
