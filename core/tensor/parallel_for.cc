#include "core/tensor/parallel_for.h"

#include <omp.h>

#include <algorithm>

namespace openset {

void ParallelFor(int64_t count, const std::function<void(int64_t begin, int64_t end)>& work) {
  if (count < 2 || omp_in_parallel() != 0 || omp_get_max_threads() == 1) return work(0, count);
#pragma omp parallel
  {
    const int64_t threads = omp_get_num_threads();
    const int64_t size = (count + threads - 1) / threads;
    const int64_t begin = omp_get_thread_num() * size;
    if (begin < count) work(begin, std::min(count, begin + size));
  }
}

}  // namespace openset
