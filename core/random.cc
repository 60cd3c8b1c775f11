#include "core/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"

namespace openset {
namespace {

uint64_t RotateLeft(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

}  // namespace

RandomStream::RandomStream(uint64_t seed, absl::string_view name) {
  const Sha256::Digest digest = Sha256Of(absl::StrCat(seed, "/", name));
  for (int word = 0; word < 4; ++word) {
    state_[word] = 0;
    for (int byte = 0; byte < 8; ++byte) state_[word] |= uint64_t{digest[8 * word + byte]} << (8 * byte);
  }
}

uint64_t RandomStream::Bits() {
  const uint64_t result = RotateLeft(state_[0] + state_[3], 23) + state_[0];
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = RotateLeft(state_[3], 45);
  return result;
}

double RandomStream::Uniform() { return static_cast<double>(Bits() >> 11) * 0x1.0p-53; }

uint64_t RandomStream::Below(uint64_t n) {
  // Rejects the incomplete last block of 2^64.
  const uint64_t threshold = -n % n;
  while (true) {
    const uint64_t bits = Bits();
    if (bits >= threshold) return bits % n;
  }
}

double RandomStream::Normal() {
  while (true) {
    const double u = Uniform(-1, 1);
    const double v = Uniform(-1, 1);
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * std::log(s) / s);
  }
}

double RandomStream::Gamma(double shape) {
  if (shape < 1) return Gamma(shape + 1) * std::pow(1 - Uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = Normal();
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v <= 0) continue;
    if (std::log(1 - Uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

double RandomStream::LogGamma(double shape) {
  if (shape >= 1) return std::log(Gamma(shape));
  const double log = std::log(Gamma(shape + 1));
  return log + std::log(1 - Uniform()) / std::max(shape, 1e-300);
}

double RandomStream::Beta(double a, double b) {
  const State start = state_;
  const double x = Gamma(a);
  const double y = Gamma(b);
  if (x + y > 0) return x / (x + y);
  // Both are below the smallest double: the same two draws again, as logarithms.
  state_ = start;
  const double log_x = LogGamma(a);
  return 1 / (1 + std::exp(LogGamma(b) - log_x));
}

std::vector<int64_t> RandomStream::Permutation(int64_t n) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[Below(i + 1)]);
  return order;
}

uint64_t DeriveSeed(uint64_t seed, absl::string_view name) { return RandomStream(seed, name).Bits() >> 1; }

}  // namespace openset
