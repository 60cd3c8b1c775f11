#include "data/pipeline.h"

#include <numeric>
#include <string>
#include <utility>

#include "core/testing/status_matchers.h"
#include "data/augment/augmentation_members.h"

namespace openset {
namespace {

TEST(LookUpColours, TakesEachByteFromItsChannelsRow) {
  std::vector<float> table(3 * 256);
  std::iota(table.begin(), table.end(), 1.F);
  for (int64_t pixels = 0; pixels < 300; ++pixels) {
    std::vector<uint8_t> planes(3 * pixels);
    for (size_t i = 0; i < planes.size(); ++i) planes[i] = static_cast<uint8_t>(7 * i + pixels);
    std::vector<float> values(3 * pixels + 1, -1);  // the last one must not change
    LookUpColours(planes.data(), pixels, table.data(), values.data());
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < 3; ++c) {
        ASSERT_EQ(values[3 * p + c], 1 + 256 * c + planes[c * pixels + p])
            << p << " of " << pixels << ", channel " << c;
      }
    }
    ASSERT_EQ(values.back(), -1);
  }
}

constexpr at::DeviceType kCpu = at::kCPU;

// Adds a random number below 10 to all values of an image and records the sizes that it receives.
class Brighten : public Augmentation {
 public:
  explicit Brighten(std::vector<int64_t>* sizes) : sizes_(sizes) {}

  void Draw(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const override {
    drawn_for_ = size;
    at::Tensor amount = at::empty({count, 1, 1, 1}, at::kByte);
    for (int64_t i = 0; i < count; ++i) amount[i].fill_(static_cast<int64_t>(random->Below(10)));
    staging->Add(amount);
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    EXPECT_EQ(images.scalar_type(), at::kByte);
    EXPECT_TRUE(images.is_contiguous());
    EXPECT_EQ(images.sizes().slice(2), at::IntArrayRef({drawn_for_.height, drawn_for_.width}));
    *sizes_ = images.sizes().vec();
    return images + staging->Next();
  }

 private:
  std::vector<int64_t>* sizes_;
  mutable PixelSize drawn_for_ = {0, 0};
};

template <typename... A>
std::vector<std::unique_ptr<const Augmentation>> List(A... augmentations) {
  std::vector<std::unique_ptr<const Augmentation>> list;
  (list.push_back(std::move(augmentations)), ...);
  return list;
}

// u8 [2, channels, size, size]: 0, 1, 2, ...
at::Tensor Images(int64_t channels, int64_t size) {
  return at::arange(2 * channels * size * size, at::kByte).reshape({2, channels, size, size});
}

// The bytes of two samples of three numbers each; the fields for images have no effect.
TEST(Pipeline, FeaturesAreTheirBytes) {
  InputFormat format;
  format.size = 3;
  format.mean = {0.5};
  format.is_features = true;
  const at::Tensor features = at::tensor({1.5F, -2.F, 3.F, 1e30F, 0.F, -0.25F}, at::kFloat).reshape({2, 1, 1, 3});
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline, Pipeline::Make({}, format, kCpu));
  const at::Tensor result = pipeline.Apply(features.view(at::kByte), nullptr);
  EXPECT_EQ(result.sizes(), at::IntArrayRef({2, 1, 1, 3}));
  EXPECT_TRUE(at::equal(result, features));
  EXPECT_EQ(pipeline.image_sizes(), at::IntArrayRef({1, 1, 3}));
  std::vector<std::unique_ptr<const Augmentation>> augmentations;
  augmentations.push_back(MakeResize(3));
  EXPECT_THAT(Pipeline::Make(std::move(augmentations), format, kCpu).status().message(),
              HasSubstr("is for images, not for features"));
}

TEST(Pipeline, NormalisesEachChannel) {
  InputFormat format;
  format.size = 2;
  format.mean = {0.5, 0.25, 0};
  format.std = {0.5, 2, 1};
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline, Pipeline::Make({}, format, kCpu));
  const at::Tensor images = Images(3, 2);
  const at::Tensor result = pipeline.Apply(images, nullptr);
  EXPECT_EQ(result.scalar_type(), at::kFloat);
  EXPECT_TRUE(result.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_EQ(result.sizes(), images.sizes());
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t c = 0; c < 3; ++c) {
      // Image i's channel c begins with 12 i + 4 c.
      const float value = static_cast<float>(12 * i + 4 * c) / 255;
      const float mean = static_cast<float>(format.mean[c]);
      const float std = static_cast<float>(format.std[c]);
      EXPECT_EQ(result[i][c][0][0].item<float>(), (value - mean) / std);
    }
  }
  EXPECT_TRUE(at::equal(images, Images(3, 2)));  // the argument is unchanged
}

// The CPU's table has exactly the results of the operations on other devices. 3000 images are three pieces of work.
TEST(Pipeline, TheTableEqualsTheFormula) {
  InputFormat format;
  format.size = 16;
  format.mean = {0.4914, 0.4822, 0.4465};
  format.std = {0.2023, 0.1994, 0.2010};
  const at::Tensor images = at::arange(256, at::kByte).reshape({1, 1, 16, 16}).repeat({3000, 3, 1, 1});
  const at::Tensor mean = at::tensor(format.mean, at::kFloat).reshape({3, 1, 1});
  const at::Tensor std = at::tensor(format.std, at::kFloat).reshape({3, 1, 1});
  const at::Tensor expected = ((images.to(at::kFloat) / 255 - mean) / std).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor result = Pipeline::Make({}, format, kCpu)->Apply(images, nullptr);
  EXPECT_TRUE(at::equal(result, expected));
  EXPECT_EQ(result.strides(), expected.strides());
  format.channels = 1;
  format.mean = format.std = {};
  const at::Tensor grey = images.slice(1, 0, 1).contiguous();
  const at::Tensor grey_result = Pipeline::Make({}, format, kCpu)->Apply(grey, nullptr);
  EXPECT_TRUE(at::equal(grey_result, grey.to(at::kFloat) / 255));
  EXPECT_EQ(grey_result.strides(), grey.strides());
}

TEST(Pipeline, OneValueAppliesToAllChannels) {
  InputFormat format;
  format.size = 2;
  const at::Tensor plain = Pipeline::Make({}, format, kCpu)->Apply(Images(3, 2), nullptr);
  EXPECT_TRUE(at::equal(plain, Images(3, 2).to(at::kFloat) / 255));
  format.mean = {0.5};
  format.std = {0.25};
  const at::Tensor normalised = Pipeline::Make({}, format, kCpu)->Apply(Images(3, 2), nullptr);
  EXPECT_TRUE(at::equal(normalised, (plain - 0.5) / 0.25));
}

TEST(Pipeline, ResizesFirstUnlessAResizeIsListed) {
  InputFormat format;
  format.size = 4;
  std::vector<int64_t> sizes;
  RandomStream random(0, "test");
  const std::vector<int64_t> small = {2, 3, 2, 2};
  const std::vector<int64_t> large = {2, 3, 4, 4};
  const auto brighten = [&sizes] { return std::make_unique<Brighten>(&sizes); };

  const auto not_listed = Pipeline::Make(List(brighten()), format, kCpu);
  EXPECT_EQ(not_listed->Apply(Images(3, 2), &random).sizes(), large);
  EXPECT_EQ(sizes, large);

  const auto listed_first = Pipeline::Make(List(MakeResize(4), brighten()), format, kCpu);
  EXPECT_EQ(listed_first->Apply(Images(3, 2), &random).sizes(), large);
  EXPECT_EQ(sizes, large);

  const auto listed_last = Pipeline::Make(List(brighten(), MakeResize(4)), format, kCpu);
  EXPECT_EQ(listed_last->Apply(Images(3, 2), &random).sizes(), large);
  EXPECT_EQ(sizes, small);
}

TEST(Pipeline, RepeatsGreyImagesBeforeAugmentations) {
  InputFormat format;
  format.size = 2;
  std::vector<int64_t> sizes;
  RandomStream random(0, "test");
  const auto pipeline = Pipeline::Make(List(std::make_unique<Brighten>(&sizes)), format, kCpu);
  const at::Tensor result = pipeline->Apply(Images(1, 2), &random);
  EXPECT_EQ(sizes, std::vector<int64_t>({2, 3, 2, 2}));
  EXPECT_TRUE(at::equal(result.slice(1, 0, 1), result.slice(1, 2, 3)));
}

TEST(Pipeline, AppliesAugmentationsInOrderWithTheirDraws) {
  InputFormat format;
  format.size = 2;
  std::vector<int64_t> sizes;
  const auto pipeline =
      Pipeline::Make(List(std::make_unique<Brighten>(&sizes), std::make_unique<Brighten>(&sizes)), format, kCpu);
  RandomStream random(7, "test");
  const at::Tensor result = pipeline->Apply(Images(3, 2), &random);
  RandomStream same(7, "test");
  uint64_t added[2] = {0, 0};
  for (int augmentation = 0; augmentation < 2; ++augmentation) {
    for (uint64_t& sum : added) sum += same.Below(10);
  }
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(result[i][0][0][0].item<float>(), static_cast<float>(12 * i + added[i]) / 255);
  }
  EXPECT_EQ(random.Bits(), same.Bits());  // nothing else was drawn
}

// x + 1/4, unrounded.
class AddQuarter : public Augmentation {
 public:
  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* /*staging*/) const override {
    return images.to(at::kFloat).add_(0.25);
  }
  bool gives_fractions() const override { return true; }
};

TEST(Pipeline, FractionsReachTheNetworkUnrounded) {
  InputFormat format;
  format.size = 2;
  ASSERT_OK_AND_ASSIGN(auto pipeline, Pipeline::Make(List(std::make_unique<AddQuarter>()), format, kCpu));
  const at::Tensor images = Images(3, 2);
  EXPECT_TRUE(at::allclose(pipeline.Apply(images, nullptr), (images.to(at::kFloat) + 0.25) / 255));
}

TEST(Pipeline, RefusesAugmentationsAfterFractions) {
  InputFormat format;
  format.size = 2;
  std::vector<int64_t> sizes;
  const auto both = [&] {
    auto list = List(std::make_unique<AddQuarter>());
    list.push_back(std::make_unique<Brighten>(&sizes));
    return list;
  };
  EXPECT_THAT(std::string(Pipeline::Make(both(), format, kCpu).status().message()),
              HasSubstr("augmentation[0]: leaves its images unrounded"));
  auto plain = Pipeline::Make({}, format, kCpu);
  EXPECT_THAT(std::string(plain->AddViews(1, both()).message()), HasSubstr("views.augmentation[0]: leaves"));
  auto fractions = Pipeline::Make(List(std::make_unique<AddQuarter>()), format, kCpu);
  EXPECT_THAT(std::string(fractions->AddViews(1, List(std::make_unique<Brighten>(&sizes))).message()),
              HasSubstr("views.augmentation: needs 8-bit images, but those of augmentation are unrounded"));
}

// A view is the augmented image, augmented again: it is brighter by the second draw.
TEST(Pipeline, ViewsStartFromTheAugmentedImage) {
  InputFormat format;
  format.size = 2;
  std::vector<int64_t> sizes;
  auto pipeline = Pipeline::Make(List(std::make_unique<Brighten>(&sizes)), format, kCpu);
  ASSERT_TRUE(pipeline->AddViews(2, List(std::make_unique<Brighten>(&sizes))).ok());
  RandomStream random(7, "test");
  Staging staging;
  pipeline->Draw(2, {2, 2}, &random, &staging);
  const std::vector<at::Tensor> values = pipeline->ApplyWithViews(Images(3, 2), &staging);
  RandomStream same(7, "test");
  uint64_t added[3][2];
  for (auto& view : added) {
    for (uint64_t& amount : view) amount = same.Below(10);
  }
  ASSERT_EQ(values.size(), 3);
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(values[0][i][0][0][0].item<float>(), static_cast<float>(12 * i + added[0][i]) / 255);
    for (int view = 1; view < 3; ++view) {
      EXPECT_EQ(values[view][i][0][0][0].item<float>(),
                static_cast<float>(12 * i + added[0][i] + added[view][i]) / 255);
    }
  }
}

// They are brighter by their own draw alone.
TEST(Pipeline, ViewsMayStartFromTheResizedImage) {
  InputFormat format;
  format.size = 2;
  std::vector<int64_t> sizes;
  auto pipeline = Pipeline::Make(List(std::make_unique<Brighten>(&sizes)), format, kCpu);
  ASSERT_TRUE(pipeline->AddViews(1, List(std::make_unique<Brighten>(&sizes)), /*from_resized=*/true).ok());
  RandomStream random(7, "test");
  Staging staging;
  pipeline->Draw(1, {2, 2}, &random, &staging);
  const std::vector<at::Tensor> values = pipeline->ApplyWithViews(Images(3, 1), &staging);
  RandomStream same(7, "test");
  ASSERT_EQ(values.size(), 2);
  for (const at::Tensor& value : values) {
    EXPECT_EQ(value[0][0][0][0].item<float>(), static_cast<float>(same.Below(10)) / 255);
  }
}

TEST(Pipeline, NamesTheFieldWithTooManyValues) {
  InputFormat format;
  format.mean = {0.5, 0.5};
  EXPECT_EQ(Pipeline::Make({}, format, kCpu).status(),
            absl::InvalidArgumentError("mean: must have one value, or one for each of the 3 channels (has 2)"));
  format.mean = {};
  format.std = {1, 1, 1, 1};
  EXPECT_EQ(Pipeline::Make({}, format, kCpu).status(),
            absl::InvalidArgumentError("std: must have one value, or one for each of the 3 channels (has 4)"));
}

// The first part ends with the augmentation that makes all sizes equal. Nothing in it is random, so images that pass it
// one by one, and the rest together, give the same result as all together.
TEST(Pipeline, BothPartsTogetherEqualApply) {
  std::vector<std::unique_ptr<const Augmentation>> augmentations;
  augmentations.push_back(MakeResizeShorterSide(6));
  augmentations.push_back(Make(CenterCropSpec(), 4));
  InputFormat format;
  format.size = 4;
  const Pipeline pipeline = *Pipeline::Make(std::move(augmentations), format, at::kCPU);
  const at::Tensor images = at::arange(2 * 3 * 9 * 12).remainder_(251).to(at::kByte).view({2, 3, 9, 12});
  std::vector<at::Tensor> first;
  for (int64_t i = 0; i < 2; ++i) {
    first.push_back(pipeline.ApplyFirst(images.slice(0, i, i + 1), nullptr));
    EXPECT_EQ(first[i].sizes(), at::IntArrayRef({1, 3, 4, 4}));
  }
  Staging staging;
  pipeline.DrawRest(2, {4, 4}, nullptr, &staging);
  EXPECT_TRUE(at::equal(pipeline.ApplyRest(at::cat(first), &staging)[0], pipeline.Apply(images, nullptr)));
}

// 2^28 pixels are allowed, also on the way to a small image.
TEST(Pipeline, RefusesImagesThatWouldBecomeHuge) {
  InputFormat format;
  format.size = 224;
  const Pipeline shorter =
      *Pipeline::Make(List(MakeResizeShorterSide(4096), Make(CenterCropSpec(), 224)), format, kCpu);
  EXPECT_TRUE(shorter.CheckSize({8192, 8192}).ok());
  EXPECT_TRUE(shorter.CheckSize({1, 16}).ok());  // 4096 x 65536 pixels
  EXPECT_FALSE(shorter.CheckSize({1, 17}).ok());
  EXPECT_FALSE(shorter.CheckSize({17, 1}).ok());
  EXPECT_EQ(shorter.CheckSize({1, 60000}),  // 4096 x (4096 * 60000)
            absl::InvalidArgumentError("is 60000 x 1 pixels, of which resizing or padding would make 1006632960000, "
                                       "more than 268435456: use a smaller side or padding, or leave out the image"));

  RandomCropSpec spec;
  spec.set_padding(4096);
  spec.set_window(RandomCropSpec::INPUT_SIZE);
  const Pipeline padded = *Pipeline::Make(List(Make(spec, 224)), format, kCpu);
  EXPECT_TRUE(padded.CheckSize({8192, 8192}).ok());  // 16384 x 16384
  EXPECT_FALSE(padded.CheckSize({8192, 8193}).ok());

  const Pipeline central = *Pipeline::Make(List(Make(CenterCropSpec(), 224)), format, kCpu);
  EXPECT_TRUE(central.CheckSize({1, 1 << 20}).ok());
  EXPECT_FALSE(central.CheckSize({1, 1 << 26}).ok());  // 224 rows

  // Rows are resized first.
  const Pipeline plain = *Pipeline::Make({}, format, kCpu);
  EXPECT_TRUE(plain.CheckSize({1, 1 << 26}).ok());
  EXPECT_FALSE(plain.CheckSize({1 << 26, 1}).ok());
}

TEST(Pipeline, MustEndWithOneSize) {
  std::vector<std::unique_ptr<const Augmentation>> augmentations;
  augmentations.push_back(Make(CenterCropSpec(), 4));
  augmentations.push_back(MakeResizeShorterSide(6));
  InputFormat format;
  format.size = 4;
  EXPECT_EQ(
      Pipeline::Make(std::move(augmentations), format, at::kCPU).status(),
      absl::InvalidArgumentError("augmentation: the last one that changes sizes leaves images of different sizes; "
                                 "put center_crop, random_resized_crop or resize after it"));
}

TEST(PipelineDeathTest, RefusesAnAugmentationToAnotherSize) {
  const auto pipeline = Pipeline::Make(List(MakeResize(5)), InputFormat(), kCpu);
  EXPECT_DEATH(pipeline->Apply(Images(3, 2), nullptr), "images of \\[2, 3, 5, 5\\]");
}

}  // namespace
}  // namespace openset
