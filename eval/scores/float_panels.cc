#include "eval/scores/float_panels.h"

#include <immintrin.h>

namespace openset {
namespace {

constexpr int64_t kWidth = FloatPanels::kWidth;
constexpr int64_t kQueries = FloatPanels::kQueries;

// The arguments of FloatPanels::Multiply(), with the panel's values.
struct Multiplication {
  const float* panel;
  const Eigen::MatrixXf& queries;
  const float* bounds;
  float* products;
  bool* is_above;
};

void MultiplyOnAnyCpu(const Multiplication& to) {
  Eigen::Map<Eigen::MatrixXf> products(to.products, kWidth, to.queries.cols());
  products.noalias() = Eigen::Map<const Eigen::MatrixXf>(to.panel, kWidth, to.queries.rows()) * to.queries;
  for (int64_t j = 0; j < to.queries.cols(); ++j) to.is_above[j] = (products.col(j).array() >= to.bounds[j]).any();
}

// Eigen, compiled for any x86-64 CPU, needs four times as long.
__attribute__((target("avx2,fma"))) void MultiplyOnAvx2(const Multiplication& to) {
  constexpr int64_t kLanes = kWidth / 2;
  const int64_t dim = to.queries.rows();
  for (int64_t j = 0; j < to.queries.cols(); j += kQueries) {
    const float* const query = to.queries.data() + j * dim;
    __m256 left[kQueries], right[kQueries];
    for (int64_t q = 0; q < kQueries; ++q) left[q] = right[q] = _mm256_setzero_ps();
    for (int64_t d = 0; d < dim; ++d) {
      const __m256 left_values = _mm256_loadu_ps(to.panel + d * kWidth);
      const __m256 right_values = _mm256_loadu_ps(to.panel + d * kWidth + kLanes);
#pragma GCC unroll 4
      for (int64_t q = 0; q < kQueries; ++q) {
        const __m256 value = _mm256_broadcast_ss(query + q * dim + d);
        left[q] = _mm256_fmadd_ps(value, left_values, left[q]);
        right[q] = _mm256_fmadd_ps(value, right_values, right[q]);
      }
    }
#pragma GCC unroll 4
    for (int64_t q = 0; q < kQueries; ++q) {
      _mm256_storeu_ps(to.products + (j + q) * kWidth, left[q]);
      _mm256_storeu_ps(to.products + (j + q) * kWidth + kLanes, right[q]);
      const __m256 bound = _mm256_set1_ps(to.bounds[j + q]);
      to.is_above[j + q] = _mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps(left[q], bound, _CMP_GE_OQ),
                                                           _mm256_cmp_ps(right[q], bound, _CMP_GE_OQ))) != 0;
    }
  }
}

}  // namespace

FloatPanels::FloatPanels(const Eigen::MatrixXf& columns)
    : dim_(columns.rows()),
      num_panels_((columns.cols() + kWidth - 1) / kWidth),
      values_(num_panels_ * kWidth * columns.rows()) {
  for (int64_t n = 0; n < columns.cols(); ++n) {
    float* const first = values_.data() + n / kWidth * kWidth * dim_ + n % kWidth;
    for (int64_t d = 0; d < dim_; ++d) first[d * kWidth] = columns(d, n);
  }
}

void FloatPanels::Multiply(int64_t panel, const Eigen::MatrixXf& queries, const float* bounds, float* products,
                           bool* is_above) const {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  (has_avx2 ? MultiplyOnAvx2
            : MultiplyOnAnyCpu)({values_.data() + panel * kWidth * dim_, queries, bounds, products, is_above});
}

}  // namespace openset
