#include "data/augment/pixels/resample_weights.h"

#include <utility>

#include "core/tensor/torch_runtime.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// As in resize_test.cc: for 4 pixels to 2, the weights that lie inside the row are 3 : 3 : 1 and 1 : 3 : 3.
TEST(WeightsOfLibTorch, ShrinkingByTwo) {
  const auto weights = WeightsOfLibTorch(4, 2, ResizeSpec::BILINEAR);
  EXPECT_EQ(weights->in, 4);
  EXPECT_EQ(weights->out, 2);
  EXPECT_THAT(weights->begin, ElementsAre(0, 1));
  EXPECT_THAT(weights->count, ElementsAre(3, 3));
  const float third = 1 / 7.F;
  for (int i = 0; i < 2; ++i) {
    for (int t = 0; t < 3; ++t) {
      EXPECT_FLOAT_EQ(weights->weight[i * weights->taps + t], (i == 0 ? t == 2 : t == 0) ? third : 3 * third);
    }
  }
}

// 6 pixels to 2: around 3/2, the weights are 2 : 3 : 2 : 1 : 0, where the window includes the last one.
TEST(WeightsOfLibTorch, WindowsHaveTheirZeros) {
  const auto weights = WeightsOfLibTorch(6, 2, ResizeSpec::BILINEAR);
  EXPECT_THAT(weights->begin, ElementsAre(0, 2));
  EXPECT_THAT(weights->count, ElementsAre(5, 4));
  EXPECT_FLOAT_EQ(weights->weight[0], 2 / 8.F);
  EXPECT_FLOAT_EQ(weights->weight[1], 3 / 8.F);
  EXPECT_FLOAT_EQ(weights->weight[3], 1 / 8.F);
  EXPECT_EQ(weights->weight[4], 0);
}

TEST(WeightsOfLibTorch, WindowsLieInTheRowAndWeightsAddUpToOne) {
  for (const auto filter : {ResizeSpec::BILINEAR, ResizeSpec::BICUBIC}) {
    for (const auto& [in, out] : {std::pair{1, 9}, std::pair{500, 224}, std::pair{31, 224}, std::pair{3000, 16}}) {
      const auto weights = WeightsOfLibTorch(in, out, filter);
      for (int64_t i = 0; i < out; ++i) {
        EXPECT_GE(weights->begin[i], 0);
        EXPECT_GE(weights->count[i], 1);
        EXPECT_LE(weights->count[i], weights->taps);
        EXPECT_LE(weights->begin[i] + weights->count[i], in);
        double sum = 0;
        for (int64_t t = 0; t < weights->count[i]; ++t) sum += weights->weight[i * weights->taps + t];
        EXPECT_NEAR(sum, 1, 1e-5);
      }
    }
  }
}

// Otherwise resizing would be slow. LibTorch may use fewer instructions than the processor has (ATEN_CPU_CAPABILITY).
TEST(CanResampleAsLibTorch, WhereThereIsAvx2ThatLibTorchUses) {
  EXPECT_EQ(CanResampleAsLibTorch(), CanResample() && at::get_cpu_capability() != "DEFAULT");
}

}  // namespace
}  // namespace openset
