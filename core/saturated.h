// Arithmetic that stays at the largest number instead of overflowing, for counts computed from a user's numbers.
#ifndef OPENSET_CORE_SATURATED_H_
#define OPENSET_CORE_SATURATED_H_

#include <cstdint>
#include <limits>

namespace openset {

// Both arguments are at least 0. The result is the product or sum, or the largest int64_t if that is less.
inline int64_t SaturatedProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

inline int64_t SaturatedSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace openset

#endif  // OPENSET_CORE_SATURATED_H_
