#include "data/augment/resize.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/formats/npz.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "data/augment/pixels/resample_weights.h"
#include "data/augment/testing/pillow_golden.h"

namespace openset {
namespace {

// The values of one grey image resized to size x size.
std::vector<uint8_t> Resized(std::vector<uint8_t> pixels, int64_t height, int64_t width, int size) {
  const at::Tensor image = at::from_blob(pixels.data(), {1, 1, height, width}, at::kByte);
  const at::Tensor result = Resize(size).Apply(image, nullptr).contiguous();
  EXPECT_EQ(result.scalar_type(), at::kByte);
  EXPECT_EQ(result.sizes(), at::IntArrayRef({1, 1, size, size}));
  return {result.data_ptr<uint8_t>(), result.data_ptr<uint8_t>() + result.numel()};
}

TEST(Resize, ShrinkingTakesWeightedMeans) {
  // Rows of 4 to 2: outputs lie at 1 and 3, inputs at 1/2, 3/2, 5/2, 7/2, weights fall to 0 at distance 2. So at 1 they
  // are as 3 : 3 : 1 : 0. Columns are all equal.
  const std::vector<uint8_t> row = {70, 140, 210, 7};
  std::vector<uint8_t> image;
  for (int y = 0; y < 4; ++y) image.insert(image.end(), row.begin(), row.end());
  const uint8_t left = (3 * 70 + 3 * 140 + 210) / 7;      // 120
  const uint8_t right = (140 + 3 * 210 + 3 * 7 + 3) / 7;  // 113, rounded from 113.0
  EXPECT_THAT(Resized(image, 4, 4, 2), ElementsAre(left, right, left, right));
}

TEST(Resize, GrowingInterpolates) {
  // 2 to 4: outputs lie at 1/4, 3/4, 5/4, 7/4 of inputs at 1/2 and 3/2; outside them the nearest counts alone.
  // 10 + (20 - 10) / 4 = 12.5 is rounded up, as is 17.5.
  EXPECT_THAT(Resized({10, 20, 10, 20}, 2, 2, 4),
              ElementsAre(10, 13, 18, 20, 10, 13, 18, 20, 10, 13, 18, 20, 10, 13, 18, 20));
}

// Pillow's resize((3, 3), BILINEAR) and resize((8, 8), BILINEAR) of the 5 x 7 image (37 y^2 + 91 x + 13 x y) mod 256.
TEST(Resize, IsPillows) {
  std::vector<uint8_t> image;
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) image.push_back((37 * y * y + 91 * x + 13 * x * y) % 256);
  }
  EXPECT_THAT(Resized(image, 5, 7, 3), ElementsAre(99, 118, 118, 104, 161, 138, 142, 166, 119));
  const std::vector<uint8_t> large = {
      0,   74,  154, 89,  57,  136, 168, 34,  16,  95,  180, 120, 93,  142, 123, 84,   //
      44,  117, 205, 162, 142, 149, 73,  145, 113, 62,  128, 182, 169, 144, 154, 103,  //
      126, 81,  99,  180, 174, 136, 194, 84,  81,  174, 118, 156, 158, 127, 191, 89,   //
      79,  190, 134, 174, 183, 114, 114, 135, 80,  196, 145, 190, 204, 105, 54,  170};
  EXPECT_THAT(Resized(image, 5, 7, 8), ElementsAreArray(large));
}

// resized.npz: Pillow 13.0.0, the width first (tools/peers/make_image_golden.py).
TEST(Resize, IsPillowsToALevelWithBothFilters) {
  const NpzArrays golden = *ReadNpz("data/augment/testdata/resized.npz");
  int compared = 0;
  for (const auto& [key, expected] : golden) {
    const std::vector<std::string> parts = absl::StrSplit(key, '/');
    if (parts[0] == "image") continue;
    const auto filter = parts[0] == "bicubic" ? ResizeSpec::BICUBIC : ResizeSpec::BILINEAR;
    const at::Tensor image = ToTensor(golden.at(absl::StrCat("image/", parts[1])));
    const int size = static_cast<int>(expected.shape[1]);
    const at::Tensor resized = Resize(size, filter).Apply(image.unsqueeze(0), /*random=*/nullptr)[0];
    const int difference = (resized.to(at::kInt) - ToTensor(expected).to(at::kInt)).abs().max().item<int>();
    // 64 to 32: weights are exact. Image 0 is noise.
    const int most = key == "bilinear/0/32x32" ? 0 : absl::EndsWith(key, "0/96x96") ? 2 : 1;
    EXPECT_LE(difference, most) << key;
    ++compared;
  }
  EXPECT_EQ(compared, 2 * 3 * 4);
}

TEST(Resize, KeepsTheExtremes) {
  EXPECT_THAT(Resized(std::vector<uint8_t>(28 * 28, 255), 28, 28, 33), testing::Each(255));
  EXPECT_THAT(Resized(std::vector<uint8_t>(28 * 28, 0), 28, 28, 33), testing::Each(0));
}

TEST(Resize, KeepsImagesOfTheSize) {
  const at::Tensor images = at::zeros({2, 3, 4, 4}, at::kByte);
  EXPECT_TRUE(Resize(4).Apply(images, nullptr).is_same(images));
}

// The fast code on the CPU gives the bits of LibTorch's operations, which other devices use.
TEST(Resize, IsLibTorchsToTheBit) {
  const auto whole = [](const at::Tensor& values) { return values.add(0.5).floor().clamp(0, 255); };
  RandomStream random(0, "resize");
  for (int round = 0; round < 40; ++round) {
    const int64_t height = 1 + random.Below(300), width = 1 + random.Below(300);
    const int size = static_cast<int>(1 + random.Below(240));
    const auto filter = round % 2 == 0 ? ResizeSpec::BILINEAR : ResizeSpec::BICUBIC;
    at::Tensor images = at::empty({2, 3, height, width}, at::kByte);
    for (int64_t i = 0; i < images.numel(); ++i) images.mutable_data_ptr<uint8_t>()[i] = random.Below(256);
    if (round % 3 == 0) images = images.slice(2, 0, (height + 1) / 2);  // as a crop, with gaps
    const at::Tensor wide = whole(ResizeByLibTorch(images.to(at::kFloat), images.size(2), size, filter));
    const at::Tensor expected = whole(ResizeByLibTorch(wide, size, size, filter)).to(at::kByte);
    EXPECT_TRUE(at::equal(Resize(size, filter).Apply(images, nullptr), expected))
        << height << " x " << width << " to " << size;
  }
}

TEST(Resize, TreatsImagesAndChannelsAlike) {
  const at::Tensor images = at::arange(2 * 3 * 5 * 5, at::kByte).reshape({2, 3, 5, 5});
  const at::Tensor resized = Resize(8).Apply(images, nullptr);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t c = 0; c < 3; ++c) {
      const at::Tensor one = images.slice(0, i, i + 1).slice(1, c, c + 1).contiguous();
      EXPECT_TRUE(at::equal(Resize(8).Apply(one, nullptr)[0][0], resized[i][c]));
    }
  }
}

}  // namespace
}  // namespace openset
