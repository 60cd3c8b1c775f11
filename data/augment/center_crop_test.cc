#include "absl/strings/str_cat.h"
#include "core/files/formats/npz.h"
#include "data/augment/augmentation_members.h"
#include "data/augment/resize.h"
#include "data/augment/testing/pillow_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(CenterCrop, IsTorchvisionsBehindAResizeOfTheShorterSide) {
  const NpzArrays golden = *ReadNpz("data/augment/testdata/crops.npz");
  const std::vector<int64_t> side = *ToInt64(golden.at("side"));
  for (const std::string name : {"wide", "tall"}) {
    const at::Tensor image = ToTensor(golden.at(name)).unsqueeze(0);
    for (size_t i = 0; i < side.size(); ++i) {
      const at::Tensor resized = MakeResizeShorterSide(static_cast<int>(side[i]))->Apply(image, nullptr);
      const at::Tensor expected = ToTensor(golden.at(absl::StrCat(name, "/shorter_side/", i)));
      ASSERT_EQ(resized[0].sizes(), expected.sizes()) << name << " " << side[i];
      EXPECT_LE((resized[0].to(at::kInt) - expected.to(at::kInt)).abs().max().item<int>(), 1) << name << " " << side[i];
      // The window is exact.
      const at::Tensor window = Make(CenterCropSpec(), 8)->Apply(expected.unsqueeze(0), nullptr);
      EXPECT_TRUE(at::equal(window[0], ToTensor(golden.at(absl::StrCat(name, "/center_crop/", i)))));
    }
  }
}

TEST(CenterCrop, PadsWhatIsSmallerWithZeros) {
  const at::Tensor image = at::full({2, 1, 1, 2}, 9, at::kByte);
  const at::Tensor crop = Make(CenterCropSpec(), 4)->Apply(image, nullptr);
  at::Tensor expected = at::zeros({2, 1, 4, 4}, at::kByte);
  expected.slice(2, 1, 2).slice(3, 1, 3).fill_(9);
  EXPECT_TRUE(at::equal(crop, expected));
}

TEST(CenterCrop, FixesTheSize) {
  EXPECT_EQ(Make(CenterCropSpec(), 4)->size_effect(), SizeEffect::kFixes);
  EXPECT_EQ(MakeResizeShorterSide(4)->size_effect(), SizeEffect::kChanges);
  const at::Tensor image = at::zeros({1, 3, 4, 4}, at::kByte);
  EXPECT_TRUE(at::equal(Make(CenterCropSpec(), 4)->Apply(image, nullptr), image));
}

}  // namespace
}  // namespace openset
