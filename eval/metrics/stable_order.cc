#include "eval/metrics/stable_order.h"

#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

namespace openset {
namespace {

constexpr int kDigitBits = 11;
constexpr int kDigits = 6;  // 6 * 11 >= 64
constexpr uint64_t kDigitMask = (uint64_t{1} << kDigitBits) - 1;

// Bits whose order as an unsigned number is that of the doubles.
uint64_t OrderedBits(double x) {
  x += 0.0;  // -0 becomes 0
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const uint64_t negative = -(bits >> 63);
  return bits ^ (negative | (uint64_t{1} << 63));
}

}  // namespace

std::vector<uint32_t> StableOrder(absl::Span<const double> key) {
  const int64_t n = key.size();
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);

  auto bits = std::make_unique<uint64_t[]>(n);
  std::vector<std::array<uint32_t, kDigitMask + 1>> count(kDigits);
  for (int64_t i = 0; i < n; ++i) {
    bits[i] = OrderedBits(key[i]);
    for (int digit = 0; digit < kDigits; ++digit) ++count[digit][(bits[i] >> (digit * kDigitBits)) & kDigitMask];
  }

  std::vector<uint32_t> next_order(n);
  auto next_bits = std::make_unique<uint64_t[]>(n);
  for (int digit = 0; digit < kDigits; ++digit) {
    const int shift = digit * kDigitBits;
    // A digit that all keys share sorts nothing: so are the lowest ones of keys that were floats.
    if (n == 0 || count[digit][(bits[0] >> shift) & kDigitMask] == n) continue;
    uint32_t place = 0;
    for (uint32_t& c : count[digit]) place += std::exchange(c, place);
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t to = count[digit][(bits[i] >> shift) & kDigitMask]++;
      next_bits[to] = bits[i];
      next_order[to] = order[i];
    }
    bits.swap(next_bits);
    order.swap(next_order);
  }
  return order;
}

}  // namespace openset
