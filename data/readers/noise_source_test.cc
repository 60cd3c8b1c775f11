#include "data/readers/noise_source.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

NoiseImages Gaussian() { return ParsedWithDefaults<NoiseImages>("gaussian {} seed: 3"); }

// Implements the rule again.
TEST(NoiseSource, FollowsTheRule) {
  const auto source = MakeNoiseSource(Gaussian(), "noise", "test", 5, {3, 2, 2});
  EXPECT_THAT(source->index().label, ElementsAre(0, 0, 0, 0, 0));
  EXPECT_EQ(source->Describe(4), "test 4");
  ASSERT_OK_AND_ASSIGN(const auto images, source->Read({4, 1, 4}));
  EXPECT_EQ(images[0].pixels, images[2].pixels);
  EXPECT_NE(images[0].pixels, images[1].pixels);
  RandomStream stream(3, "noise/test/4");
  for (const uint8_t pixel : images[0].pixels) {
    const double x = std::min(std::max(0.5 + stream.Normal(), 0.0), 1.0);
    EXPECT_EQ(pixel, std::lround(255 * x));
  }
}

// 30,000 values. The mean of the uniform ones is 0.5 with a standard error of 0.2887 / sqrt(30,000) = 0.0017. A share
// of 2 Phi(-0.5) = 0.617 of the Gaussian ones is clipped to 0 or 255, standard error 0.0028; rounding adds the values
// within 1/510 of the limits, at most 0.0016. With limits of five standard errors, random seeds would fail with a
// chance below 1e-6.
TEST(NoiseSource, HasTheDistributions) {
  NoiseImages uniform;
  uniform.mutable_uniform();
  ASSERT_OK_AND_ASSIGN(const auto images, MakeNoiseSource(uniform, "u", "test", 1, {3, 100, 100})->Read({0}));
  double sum = 0;
  for (const uint8_t pixel : images[0].pixels) sum += pixel / 255.0;
  EXPECT_NEAR(sum / 30000, 0.5, 0.0085);
  ASSERT_OK_AND_ASSIGN(const auto gaussian, MakeNoiseSource(Gaussian(), "g", "test", 1, {3, 100, 100})->Read({0}));
  const std::vector<uint8_t>& pixels = gaussian[0].pixels;
  const auto cut = std::count(pixels.begin(), pixels.end(), 0) + std::count(pixels.begin(), pixels.end(), 255);
  EXPECT_NEAR(cut / 30000.0, 0.6178, 0.015);
}

}  // namespace
}  // namespace openset
