#include "data/inspect/duplicates.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// An image of six waves, with random directions, lengths and colours.
Image Picture(int number, int64_t height = 32, int64_t width = 32, int channels = 3) {
  RandomStream random(1, absl::StrCat("picture ", number));
  std::vector<double> value(channels * height * width, 128);
  for (int wave = 0; wave < 6; ++wave) {
    const double a = random.Uniform(-0.5, 0.5), b = random.Uniform(-0.5, 0.5), shift = random.Uniform(0, 6.28);
    for (int c = 0; c < channels; ++c) {
      const double strength = random.Uniform(-20, 20);
      for (int64_t y = 0; y < height; ++y) {
        for (int64_t x = 0; x < width; ++x) {
          value[(c * height + y) * width + x] += strength * std::sin(a * x + b * y + shift);
        }
      }
    }
  }
  Image image{channels, height, width, {}};
  for (const double v : value) image.pixels.push_back(static_cast<uint8_t>(v));  // 8 to 248
  return image;
}

std::vector<DuplicatePair> Find(const std::vector<Image>& images, bool near = true) {
  std::vector<DuplicateSample> samples;
  for (const Image& image : images) samples.push_back({0, static_cast<int64_t>(samples.size()), FingerprintOf(image)});
  return FindDuplicates(samples, near);
}

TEST(Duplicates, FindsExactOnes) {
  const auto pairs = Find({Picture(0), Picture(1), Picture(0), Picture(2), Picture(0)}, /*near=*/false);
  ASSERT_EQ(pairs.size(), 2);
  EXPECT_EQ(pairs[0].first, 0);
  EXPECT_EQ(pairs[0].second, 2);
  EXPECT_TRUE(pairs[0].exact);
  EXPECT_EQ(pairs[1].first, 0);
  EXPECT_EQ(pairs[1].second, 4);
  // The same bytes in another shape are another image.
  Image turned = Picture(0, 16, 64);
  Image square = turned;
  std::swap(square.height, square.width);
  EXPECT_THAT(Find({turned, square}, false), IsEmpty());
}

// Images that are brighter by 3 levels, have noise of +-2 levels or one other pixel are near but not exact duplicates.
// Other pictures are neither.
TEST(Duplicates, FindsNearOnes) {
  const Image image = Picture(3);
  Image brighter = image, noisy = image, touched = image;
  RandomStream random(2, "noise");
  for (uint8_t& pixel : brighter.pixels) pixel = static_cast<uint8_t>(pixel + 3);
  for (uint8_t& pixel : noisy.pixels) pixel = static_cast<uint8_t>(pixel + random.Below(5) - 2);
  touched.pixels[500] ^= 0x80;
  for (const Image& other : {brighter, noisy, touched}) {
    const auto pairs = Find({Picture(0), image, Picture(1), other});
    ASSERT_EQ(pairs.size(), 1);
    EXPECT_EQ(pairs[0].first, 1);
    EXPECT_EQ(pairs[0].second, 3);
    EXPECT_FALSE(pairs[0].exact);
    EXPECT_THAT(Find({image, other}, /*near=*/false), IsEmpty());
  }
  std::vector<Image> many;
  for (int i = 0; i < 200; ++i) many.push_back(Picture(i));
  EXPECT_THAT(Find(many), IsEmpty());
}

// The same picture in another size.
TEST(Duplicates, FindsNearOnesOfAnotherSize) {
  const Image image = Picture(4, 64, 64);
  Image half{3, 32, 32, {}};
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < 64; y += 2) {
      for (int x = 0; x < 64; x += 2) {
        const uint8_t* pixel = &image.pixels[(c * 64 + y) * 64 + x];
        half.pixels.push_back(static_cast<uint8_t>((pixel[0] + pixel[1] + pixel[64] + pixel[65] + 2) / 4));
      }
    }
  }
  EXPECT_EQ(Find({image, half}).size(), 1);
}

// Images without content are only compared for exact duplicates.
TEST(Duplicates, FlatImagesAreNotNear) {
  Image black{1, 8, 8, std::vector<uint8_t>(64, 0)}, dark{1, 8, 8, std::vector<uint8_t>(64, 2)};
  EXPECT_THAT(Find({black, dark}), IsEmpty());
  EXPECT_EQ(Find({black, dark, black}).size(), 1);
}

}  // namespace
}  // namespace openset
