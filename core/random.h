// Random streams that give the same numbers on every machine.
//
// A stream is identified by a seed and a name ("shuffle/epoch 3"); streams with different names are independent. The
// generator is xoshiro256++ (Blackman and Vigna 2019); its initial state is the SHA-256 of seed and name. Integer draws
// (Bits, Below, Permutation) are the same everywhere; real ones also depend on the libm's log and pow.
#ifndef OPENSET_CORE_RANDOM_H_
#define OPENSET_CORE_RANDOM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace openset {

class RandomStream {
 public:
  RandomStream(uint64_t seed, absl::string_view name);

  // 64 random bits.
  uint64_t Bits();
  // Uniform on [0, 1), a multiple of 2^-53.
  double Uniform();
  // Uniform on [low, high).
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // Uniform on {0, ..., n - 1}, without bias. Precondition: n > 0.
  uint64_t Below(uint64_t n);
  // Standard normal (Marsaglia's polar method).
  double Normal();
  // Gamma(shape, 1), shape > 0 (Marsaglia and Tsang 2000).
  double Gamma(double shape);
  // Beta(a, b), a > 0, b > 0: x / (x + y) for x ~ Gamma(a) and y ~ Gamma(b), in [0, 1]. If both shapes are so small
  // (below about 0.05) that x and y are 0 in f64, it is computed from log x and log y, with shapes below 1e-300
  // counting as 1e-300.
  double Beta(double a, double b);
  // A uniformly random order of 0, ..., n - 1 (Fisher-Yates).
  std::vector<int64_t> Permutation(int64_t n);

  // The state of the stream: a stream with this state draws the same numbers next. Never all 0, which would draw only
  // 0.
  using State = std::array<uint64_t, 4>;
  const State& state() const { return state_; }
  // Precondition: not all 0.
  void set_state(const State& state) { state_ = state; }

 private:
  // The logarithm of the Gamma(shape) that the stream draws next.
  double LogGamma(double shape);

  State state_;
};

// A seed for another generator, for example LibTorch's: the first 63 bits of the stream.
uint64_t DeriveSeed(uint64_t seed, absl::string_view name);

}  // namespace openset

#endif  // OPENSET_CORE_RANDOM_H_
