#include "data/augment/random_resized_crop.h"

#include "core/files/formats/npz.h"
#include "core/testing/parsed.h"
#include "data/augment/testing/pillow_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

RandomResizedCropSpec Spec() { return ParsedWithDefaults<RandomResizedCropSpec>(""); }

TEST(ResizedCrop, IsTorchvisionsOfPillowImages) {
  const NpzArrays golden = *ReadNpz("data/augment/testdata/crops.npz");
  const at::Tensor image = ToTensor(golden.at("image")).unsqueeze(0);
  const std::vector<int64_t> box = *ToInt64(golden.at("box"));
  const at::Tensor expected = ToTensor(golden.at("resized_crop"));
  for (int64_t i = 0; i < expected.size(0); ++i) {
    const at::Tensor crop = ResizedCrop(image, {box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]}, 8);
    ASSERT_EQ(crop.sizes(), at::IntArrayRef({1, 3, 8, 8}));
    // To one level, as Resize promises.
    EXPECT_LE((crop[0].to(at::kInt) - expected[i].to(at::kInt)).abs().max().item<int>(), 1) << "box " << i;
  }
}

TEST(RandomResizedCrop, EachImageByItsOwnDraws) {
  const at::Tensor images = at::arange(4 * 3 * 20 * 30).remainder_(251).to(at::kByte).view({4, 3, 20, 30});
  RandomStream random(3, "crop"), same(3, "crop");
  const at::Tensor crops = MakeRandomResizedCrop(Spec(), 8)->Apply(images, &random);
  ASSERT_EQ(crops.sizes(), at::IntArrayRef({4, 3, 8, 8}));
  for (int64_t i = 0; i < 4; ++i) {
    const CropWindow window = DrawCropWindow(Spec(), 20, 30, &same);
    EXPECT_TRUE(at::equal(crops.slice(0, i, i + 1), ResizedCrop(images.slice(0, i, i + 1), window, 8)));
  }
  EXPECT_EQ(MakeRandomResizedCrop(Spec(), 8)->size_effect(), SizeEffect::kFixes);
}

}  // namespace
}  // namespace openset
