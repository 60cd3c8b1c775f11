#include "eval/metrics/stable_order.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

namespace openset {
namespace {

// What is sorted is one number a position: the highest 33 bits of its key in which keys differ, above the position.
constexpr int kDigitBits = 11;
constexpr int kDigits = 3;
constexpr int kKeyBits = kDigits * kDigitBits;
constexpr int kPositionBits = 64 - kKeyBits;
constexpr uint64_t kDigitMask = (uint64_t{1} << kDigitBits) - 1;
constexpr uint64_t kKeyMask = (uint64_t{1} << kKeyBits) - 1;
constexpr uint64_t kPositionMask = (uint64_t{1} << kPositionBits) - 1;
// Runs of equal numbers of this length are sorted by insertion.
constexpr int64_t kShortRun = 16;

// Bits whose order as an unsigned number is that of the doubles.
uint64_t OrderedBits(double x) {
  x += 0.0;  // -0 becomes 0
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const uint64_t negative = -(bits >> 63);
  return bits ^ (negative | (uint64_t{1} << 63));
}

using Counts = std::array<uint32_t, kDigitMask + 1>;

uint64_t DigitOf(uint64_t packed, int digit) { return (packed >> (kPositionBits + digit * kDigitBits)) & kDigitMask; }

// Sorts by the keys themselves what the numbers did not tell apart. Positions ascend at first, and stay so where keys
// are equal.
void SortRun(absl::Span<const double> key, uint32_t* begin, uint32_t* end) {
  const auto is_before = [&](uint32_t a, uint32_t b) { return key[a] < key[b] || (key[a] == key[b] && a < b); };
  if (end - begin > kShortRun) {
    if (!std::is_sorted(begin, end, is_before)) std::sort(begin, end, is_before);
    return;
  }
  for (uint32_t* next = begin + 1; next < end; ++next) {
    const uint32_t position = *next;
    uint32_t* to = next;
    for (; to > begin && key[position] < key[to[-1]]; --to) *to = to[-1];
    *to = position;
  }
}

}  // namespace

std::vector<uint32_t> StableOrder(absl::Span<const double> key) {
  const int64_t n = key.size();
  uint64_t all = ~uint64_t{0}, any = 0;
  for (const double k : key) {
    const uint64_t bits = OrderedBits(k);
    all &= bits;
    any |= bits;
  }
  const uint64_t differing = all ^ any;
  if (n == 0 || differing == 0) {
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  const int lowest = __builtin_ctzll(differing);
  const int highest = 63 - __builtin_clzll(differing);
  const int shift = std::max(lowest, highest + 1 - kKeyBits);

  auto packed = std::make_unique<uint64_t[]>(n);
  auto count = std::make_unique<std::array<Counts, kDigits>>();
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t one = ((OrderedBits(key[i]) >> shift) & kKeyMask) << kPositionBits | static_cast<uint64_t>(i);
    packed[i] = one;
    for (int digit = 0; digit < kDigits; ++digit) ++(*count)[digit][DigitOf(one, digit)];
  }
  auto next = std::make_unique<uint64_t[]>(n);
  for (int digit = 0; digit < kDigits; ++digit) {
    Counts& to = (*count)[digit];
    // A digit that all share sorts nothing.
    if (to[DigitOf(packed[0], digit)] == n) continue;
    uint32_t place = 0;
    for (uint32_t& c : to) place += std::exchange(c, place);
    for (int64_t i = 0; i < n; ++i) next[to[DigitOf(packed[i], digit)]++] = packed[i];
    packed.swap(next);
  }
  next.reset();

  std::vector<uint32_t> order(n);
  for (int64_t i = 0; i < n; ++i) order[i] = static_cast<uint32_t>(packed[i] & kPositionMask);
  if (shift == lowest) return order;
  for (int64_t begin = 0, end = 0; begin < n; begin = end) {
    const uint64_t number = packed[begin] >> kPositionBits;
    for (end = begin + 1; end < n && packed[end] >> kPositionBits == number;) ++end;
    if (end - begin > 1) SortRun(key, &order[begin], &order[begin] + (end - begin));
  }
  return order;
}

}  // namespace openset
