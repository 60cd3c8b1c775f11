#include "eval/metrics/stable_order.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "core/in_parallel.h"

namespace openset {
namespace {

// Sorts one number for each position: the highest 33 bits of its key in which keys differ, above the position.
constexpr int kDigitBits = 11;
constexpr int kDigits = 3;
constexpr int kKeyBits = kDigits * kDigitBits;
constexpr int kPositionBits = 64 - kKeyBits;
constexpr uint64_t kDigitMask = (uint64_t{1} << kDigitBits) - 1;
constexpr uint64_t kKeyMask = (uint64_t{1} << kKeyBits) - 1;
constexpr uint64_t kPositionMask = (uint64_t{1} << kPositionBits) - 1;
// Runs of equal numbers of this length are sorted by insertion.
constexpr int64_t kShortRun = 16;
// The least number of keys for several threads: two threads then save a millisecond.
constexpr int64_t kWorthThreads = 200000;

// The bits as an unsigned number with the same order as the doubles.
uint64_t OrderedBits(double x) {
  x += 0.0;  // -0 becomes 0
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const uint64_t negative = -(bits >> 63);
  return bits ^ (negative | (uint64_t{1} << 63));
}

using Counts = std::array<uint32_t, kDigitMask + 1>;

uint64_t DigitOf(uint64_t packed, int digit) { return (packed >> (kPositionBits + digit * kDigitBits)) & kDigitMask; }

// Sorts positions with equal numbers by their keys. Positions start in ascending order and keep it for equal keys.
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
  // Each thread sorts a part of the numbers, in order. The result doesn't depend on the number of threads.
  const int64_t parts = n < kWorthThreads ? 1 : NumThreads();
  const auto in_parts = [&](const std::function<void(int64_t part, int64_t begin, int64_t end)>& work) {
    InParallel(parts, [&](int64_t part) { work(part, n * part / parts, n * (part + 1) / parts); });
  };
  std::vector<uint64_t> all(parts, ~uint64_t{0}), any(parts, 0);
  in_parts([&](int64_t part, int64_t begin, int64_t end) {
    uint64_t all_here = ~uint64_t{0}, any_here = 0;
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t bits = OrderedBits(key[i]);
      all_here &= bits;
      any_here |= bits;
    }
    all[part] = all_here;
    any[part] = any_here;
  });
  uint64_t in_all = ~uint64_t{0}, in_any = 0;
  for (int64_t part = 0; part < parts; ++part) in_all &= all[part], in_any |= any[part];
  const uint64_t differing = in_all ^ in_any;
  if (n == 0 || differing == 0) {
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  const int lowest = __builtin_ctzll(differing);
  const int highest = 63 - __builtin_clzll(differing);
  const int shift = std::max(lowest, highest + 1 - kKeyBits);

  std::unique_ptr<uint64_t[]> packed(new uint64_t[n]), next(new uint64_t[n]);
  std::vector<Counts> count(parts);
  for (int digit = 0; digit < kDigits; ++digit) {
    in_parts([&](int64_t part, int64_t begin, int64_t end) {
      Counts& here = count[part];
      here.fill(0);
      for (int64_t i = begin; i < end; ++i) {
        if (digit == 0) packed[i] = ((OrderedBits(key[i]) >> shift) & kKeyMask) << kPositionBits | i;
        ++here[DigitOf(packed[i], digit)];
      }
    });
    // A digit that is the same in all numbers needs no pass.
    int64_t like_first = 0;
    for (const Counts& here : count) like_first += here[DigitOf(packed[0], digit)];
    if (like_first == n) continue;
    uint32_t place = 0;
    for (uint64_t value = 0; value <= kDigitMask; ++value) {
      for (Counts& here : count) place += std::exchange(here[value], place);
    }
    in_parts([&](int64_t part, int64_t begin, int64_t end) {
      Counts& to = count[part];
      for (int64_t i = begin; i < end; ++i) next[to[DigitOf(packed[i], digit)]++] = packed[i];
    });
    packed.swap(next);
  }
  next.reset();

  std::vector<uint32_t> order(n);
  in_parts([&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) order[i] = static_cast<uint32_t>(packed[i] & kPositionMask);
  });
  if (shift == lowest) return order;
  for (int64_t begin = 0, end = 0; begin < n; begin = end) {
    const uint64_t number = packed[begin] >> kPositionBits;
    for (end = begin + 1; end < n && packed[end] >> kPositionBits == number;) ++end;
    if (end - begin > 1) SortRun(key, &order[begin], &order[begin] + (end - begin));
  }
  return order;
}

}  // namespace openset
