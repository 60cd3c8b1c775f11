#include "data/augment/pixels/resample.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Windows of up to `taps` pixels at random places, with weights that add up to about 1 and may be negative.
ResampleWeights RandomWeights(int64_t in, int64_t out, int64_t taps, RandomStream* random) {
  ResampleWeights weights{in, out, taps, {}, {}, std::vector<float>(out * taps)};
  for (int64_t i = 0; i < out; ++i) {
    const auto count = static_cast<int64_t>(1 + random->Below(std::min(in, taps)));
    weights.count.push_back(count);
    weights.begin.push_back(static_cast<int64_t>(random->Below(in - count + 1)));
    for (int64_t t = 0; t < count; ++t) {
      weights.weight[i * taps + t] = static_cast<float>((random->Uniform() * 2.4 - 0.2) / static_cast<double>(count));
    }
  }
  return weights;
}

uint8_t Byte(float sum) { return static_cast<uint8_t>(std::clamp(std::floor(sum + 0.5F), 0.F, 255.F)); }

// Pixel by pixel.
std::vector<uint8_t> OneByOne(const std::vector<uint8_t>& plane, const ResampleWeights& rows,
                              const ResampleWeights& columns) {
  std::vector<uint8_t> between, out;
  for (int64_t y = 0; y < columns.in; ++y) {
    for (int64_t x = 0; x < rows.out; ++x) {
      std::vector<float> values;
      for (int64_t t = 0; t < rows.count[x]; ++t) values.push_back(plane[y * rows.in + rows.begin[x] + t]);
      between.push_back(Byte(ResampleSum(values.data(), &rows.weight[x * rows.taps], rows.count[x])));
    }
  }
  for (int64_t y = 0; y < columns.out; ++y) {
    for (int64_t x = 0; x < rows.out; ++x) {
      std::vector<float> values;
      for (int64_t t = 0; t < columns.count[y]; ++t) values.push_back(between[(columns.begin[y] + t) * rows.out + x]);
      out.push_back(Byte(ResampleSum(values.data(), &columns.weight[y * columns.taps], columns.count[y])));
    }
  }
  return out;
}

// An axis that is left as it is.
ResampleWeights Same(int64_t size) {
  ResampleWeights weights{size, size, 1, {}, std::vector<int64_t>(size, 1), std::vector<float>(size, 1)};
  for (int64_t i = 0; i < size; ++i) weights.begin.push_back(i);
  return weights;
}

// e = 2^-23 is the distance of 1 to the next f32. (1 + e)^2 = 1 + 2e + e^2 rounds to 1 + 2e; added to -1 - 2e, it gives
// 0 if it is rounded first, and otherwise e^2.
TEST(ResampleSum, FoursAreRoundedAndTheRestIsFused) {
  const float e = std::ldexp(1.F, -23);
  const std::vector<float> values = {-1 - 2 * e, 1 + e, 0, 0, 0}, weights = {1, 1 + e, 0, 0, 0};
  EXPECT_EQ(ResampleSum(values.data(), weights.data(), 2), e * e);
  EXPECT_EQ(ResampleSum(values.data(), weights.data(), 4), e * e) << "three after the first";
  EXPECT_EQ(ResampleSum(values.data(), weights.data(), 5), 0) << "four after the first";
  EXPECT_EQ(ResampleSum(values.data(), weights.data(), 1), -1 - 2 * e);
}

TEST(ResamplePlane, IsThatOfOneSumAfterTheOther) {
  if (!CanResample()) GTEST_SKIP() << "no AVX2 here";
  RandomStream random(0, "resample");
  for (int round = 0; round < 200; ++round) {
    const auto size = [&] { return static_cast<int64_t>(1 + random.Below(40)); };
    const int64_t height = size(), width = size();
    ResampleWeights rows = RandomWeights(width, size(), 1 + random.Below(20), &random);
    ResampleWeights columns = RandomWeights(height, size(), 1 + random.Below(20), &random);
    if (rows.in == rows.out) rows = Same(width);
    if (columns.in == columns.out) columns = Same(height);
    std::vector<uint8_t> plane;
    for (int64_t i = 0; i < height * width; ++i) plane.push_back(random.Below(256));
    std::vector<uint8_t> out(rows.out * columns.out);
    ResamplePlane(plane.data(), rows, columns, out.data());
    EXPECT_EQ(out, OneByOne(plane, rows, columns))
        << height << " x " << width << " to " << columns.out << " x " << rows.out;
  }
}

// Halves are rounded up, and values outside [0, 255] are clamped: -1/4 of 250 is -62.5, 5/4 of it 312.5, 1/4 of 10 is
// 2.5.
TEST(ResamplePlane, RoundsToBytes) {
  if (!CanResample()) GTEST_SKIP() << "no AVX2 here";
  const ResampleWeights rows = {2, 4, 1, {0, 0, 1, 1}, {1, 1, 1, 1}, {-0.25F, 1.25F, 0.25F, 0.3F}};
  const std::vector<uint8_t> plane = {250, 10};
  std::vector<uint8_t> out(4);
  ResamplePlane(plane.data(), rows, Same(1), out.data());
  EXPECT_THAT(out, ElementsAre(0, 255, 3, 3));
}

}  // namespace
}  // namespace openset
