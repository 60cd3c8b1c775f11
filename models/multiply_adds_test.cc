// The sums are over the layers in He et al. 2016 and Neal et al. 2018; the published numbers (their Table 1, and those
// of torchvision's networks) are in the comments.
#include "models/multiply_adds.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

int64_t Of(const std::string& model, int size, int channels, int classes) {
  const ModelSpec spec = Parsed<ModelSpec>(model);
  InputSpec input;
  input.set_size(size);
  input.set_channels(channels);
  return MultiplyAdds(spec, input, classes).value_or(-1);
}

TEST(MultiplyAdds, Vgg32) {
  // Convolutions of 3x3: 3 to 64, 64 to 64 on 32x32; 64 to 128, twice 128 to 128 on 16x16; thrice 128 to 128 on 8x8;
  // one on 4x4; then 128 to 6.
  const int64_t expected = 9LL * (3 * 64 + 64 * 64) * 1024 + 9LL * (64 * 128 + 2 * 128 * 128) * 256 +
                           9LL * 3 * 128 * 128 * 64 + 9LL * 128 * 128 * 16 + 128 * 6;
  EXPECT_EQ(Of("vgg32 {}", 32, 3, 6), expected);
}

TEST(MultiplyAdds, OsrciCnn) {
  // 28 -> 24, 12 -> 8, 4: 5x5 convolutions 1 to 10 and 10 to 20, then 320 to 64 to 6.
  EXPECT_EQ(Of("osrci_cnn {}", 28, 1, 6), 25 * 10 * 24 * 24 + 25 * 10 * 20 * 8 * 8 + 320 * 64 + 64 * 6);
}

TEST(MultiplyAdds, ResnetCifar) {
  // "41 million" with 10 classes and without convolutions in the shortcuts, which ours have: 16 to 32 on 16x16, 32 to
  // 64 on 8x8.
  const int64_t stages = 9LL * 3 * 16 * 1024 + 6 * 9LL * 16 * 16 * 1024 + (9LL * 16 * 32 + 5 * 9LL * 32 * 32) * 256 +
                         (9LL * 32 * 64 + 5 * 9LL * 64 * 64) * 64;
  EXPECT_EQ(Of("resnet_cifar { variant: RESNET20 }", 32, 3, 10), stages + 16 * 32 * 256 + 32 * 64 * 64 + 640);
  EXPECT_NEAR(static_cast<double>(stages), 40.8e6, 0.3e6);
  EXPECT_NEAR(static_cast<double>(Of("resnet_cifar { variant: RESNET18 }", 32, 3, 10)), 0.556e9, 0.003e9);
}

// Billions, as in torchvision.
TEST(MultiplyAdds, ResnetImagenet) {
  for (const auto& [variant, expected] : {std::pair{"RESNET18", 1.81},
                                          {"RESNET34", 3.66},
                                          {"RESNET50", 4.09},
                                          {"RESNET101", 7.80},
                                          {"RESNET152", 11.51}}) {
    const std::string model = absl::StrCat("resnet_imagenet { variant: ", variant, " }");
    EXPECT_NEAR(static_cast<double>(Of(model, 224, 3, 1000)) / 1e9, expected, 0.03) << variant;
  }
}

// Billions; torchvision has 2.83, 17.56 and 4.49.
TEST(MultiplyAdds, OtherNetworks) {
  const auto billions = [](const std::string& model) { return static_cast<double>(Of(model, 224, 3, 1000)) / 1e9; };
  EXPECT_NEAR(billions("densenet {}"), 2.83, 0.03);
  EXPECT_NEAR(billions("vision_transformer {}"), 17.56, 0.1);
  EXPECT_NEAR(billions("swin_transformer {}"), 4.49, 0.1);
  // WRN-40-2: 3 to 16, 16 to 32 and 11 of 32 to 32 on 32x32; 32 to 64 and 11 of 64 to 64 on 16x16; the same doubled on
  // 8x8; three shortcuts.
  const int64_t first = 9LL * (3 * 16 + 16 * 32 + 11 * 32 * 32) + 16 * 32;
  const int64_t later = 9LL * (32 * 64 + 11 * 64 * 64) + 32 * 64;
  EXPECT_EQ(Of("wide_resnet { blocks: 6 widening: 2 }", 32, 3, 10),
            first * 1024 + later * 256 + 4 * later * 64 + 128 * 10);
}

TEST(MultiplyAdds, AScriptsAreNotKnown) { EXPECT_EQ(Of("torch_script { file: 'a.pt' }", 32, 3, 6), -1); }

}  // namespace
}  // namespace openset
