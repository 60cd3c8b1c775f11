#include "data/batcher.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/testing/no_threads.h"
#include "core/testing/status_matchers.h"
#include "data/augment/augmentation_members.h"
#include "data/augment/resize.h"
#include "data/batch_stream.h"

namespace openset {
namespace {

constexpr at::DeviceType kCpu = at::kCPU;

// `size` images of channels x 2 x 2; all values of an image are its number.
ImageSet TestSet(int64_t size, int64_t channels) {
  ImageSet set;
  set.channels = channels;
  set.height = set.width = 2;
  for (int64_t i = 0; i < size; ++i) {
    set.labels.push_back(0);
    set.pixels.insert(set.pixels.end(), set.image_bytes(), static_cast<uint8_t>(i));
  }
  return set;
}

std::shared_ptr<const ImageSource> Source(ImageSet set) { return MakeMemorySource(std::move(set), "train"); }

// All samples of a set. The label of sample i is i + 100.
SelectedSamples All(int64_t size) {
  SelectedSamples samples;
  for (int64_t i = 0; i < size; ++i) {
    samples.index.push_back(i);
    samples.label.push_back(100 + i);
  }
  return samples;
}

Pipeline PlainPipeline(int channels) {
  InputFormat format;
  format.size = 2;
  format.channels = channels;
  return *Pipeline::Make({}, format, kCpu);
}

Pipeline FlippingPipeline() {
  InputFormat format;
  format.size = 2;
  HorizontalFlipSpec spec;
  spec.set_probability(0.5);
  std::vector<std::unique_ptr<const Augmentation>> augmentations;
  augmentations.push_back(Make(spec, /*input_size=*/0));
  return *Pipeline::Make(std::move(augmentations), format, kCpu);
}

std::vector<int64_t> Values(const at::Tensor& tensor) {
  return {tensor.data_ptr<int64_t>(), tensor.data_ptr<int64_t>() + tensor.numel()};
}

std::vector<int64_t> Order(const std::vector<at::Tensor>& batches) { return Values(at::cat(batches)); }

TEST(BatchesPerEpoch, CountsAShortLastBatchUnlessDropped) {
  EXPECT_EQ(BatchesPerEpoch(10, 4, false), 3);
  EXPECT_EQ(BatchesPerEpoch(10, 4, true), 2);
  EXPECT_EQ(BatchesPerEpoch(8, 4, false), 2);
  EXPECT_EQ(BatchesPerEpoch(8, 4, true), 2);
  EXPECT_EQ(BatchesPerEpoch(3, 4, true), 0);
}

TEST(Batcher, CutsAnEpochIntoBatches) {
  const Batcher batcher = *Batcher::Make(Source(TestSet(7, 3)), All(7), 3, kCpu);
  EXPECT_EQ(batcher.size(), 7);
  const std::vector<at::Tensor> stored = batcher.Epoch(3, false, nullptr);
  ASSERT_EQ(stored.size(), 3);
  EXPECT_THAT(Values(stored[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(Values(stored[1]), ElementsAre(3, 4, 5));
  EXPECT_THAT(Values(stored[2]), ElementsAre(6));
  EXPECT_THAT(Order(batcher.Epoch(3, true, nullptr)), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(batcher.Epoch(8, true, nullptr).empty());
}

TEST(Batcher, DrawsTheOrderFromTheStream) {
  const Batcher batcher = *Batcher::Make(Source(TestSet(100, 3)), All(100), 3, kCpu);
  RandomStream random(3, "shuffle");
  const std::vector<int64_t> first = Order(batcher.Epoch(8, false, &random));
  const std::vector<int64_t> second = Order(batcher.Epoch(8, false, &random));
  RandomStream same(3, "shuffle");
  EXPECT_EQ(first, same.Permutation(100));
  EXPECT_EQ(second, same.Permutation(100));
  EXPECT_NE(first, second);
  // The size of a batch does not change the order.
  RandomStream again(3, "shuffle");
  EXPECT_EQ(Order(batcher.Epoch(100, false, &again)), first);
}

TEST(Batcher, GathersImagesLabelsAndPositions) {
  SelectedSamples samples;
  samples.index = {1, 4, 5};
  samples.label = {2, 0, 2};
  const Batcher batcher = *Batcher::Make(Source(TestSet(6, 3)), samples, 3, kCpu);
  const Batch batch = *batcher.At(at::tensor(std::vector<int64_t>{2, 0}, at::kLong), PlainPipeline(3), nullptr);
  EXPECT_EQ(batch.image.sizes(), at::IntArrayRef({2, 3, 2, 2}));
  EXPECT_TRUE(batch.image.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(at::equal(batch.image[0], at::full({3, 2, 2}, 5.0f) / 255));
  EXPECT_TRUE(at::equal(batch.image[1], at::full({3, 2, 2}, 1.0f) / 255));
  EXPECT_THAT(Values(batch.label), ElementsAre(2, 2));
  EXPECT_THAT(Values(batch.sample), ElementsAre(2, 0));
}

TEST(Batcher, StoresSmallDataSetsOnTheDevice) {
  std::shared_ptr<const ImageSource> source = Source(TestSet(2, 3));
  const Batcher batcher = *Batcher::Make(source, All(2), 3, kCpu, /*resident_bytes=*/2 * 12);
  EXPECT_EQ(source.use_count(), 1);  // it is not read again
  const Batch batch = *batcher.At(batcher.Epoch(2, false, nullptr)[0], PlainPipeline(3), nullptr);
  EXPECT_TRUE(at::equal(batch.image[1], at::full({3, 2, 2}, 1.0f) / 255));
}

TEST(Batcher, RepeatsGreyImages) {
  const Batcher batcher = *Batcher::Make(Source(TestSet(3, 1)), All(3), 3, kCpu);
  const Batch batch = *batcher.At(batcher.Epoch(3, false, nullptr)[0], PlainPipeline(3), nullptr);
  EXPECT_EQ(batch.image.sizes(), at::IntArrayRef({3, 3, 2, 2}));
  EXPECT_TRUE(at::equal(batch.image[2], at::full({3, 2, 2}, 2.0f) / 255));

  const Batcher grey = *Batcher::Make(Source(TestSet(3, 1)), All(3), 1, kCpu);
  EXPECT_EQ(grey.At(grey.Epoch(3, false, nullptr)[0], PlainPipeline(1), nullptr)->image.sizes(),
            at::IntArrayRef({3, 1, 2, 2}));
}

// Pillow's "L" of (10, 20, 30) is (10 * 19595 + 20 * 38470 + 30 * 7471 + 32768) >> 16 = 18, of white 255.
TEST(Batcher, MakesColourImagesGreyForAGreyModel) {
  ImageSet set = TestSet(2, 3);
  for (int place = 0; place < 4; ++place) {
    for (int channel = 0; channel < 3; ++channel) {
      set.pixels[4 * channel + place] = static_cast<uint8_t>(10 * (channel + 1));
      set.pixels[12 + 4 * channel + place] = 255;
    }
  }
  const Batcher batcher = *Batcher::Make(Source(set), All(2), 1, kCpu);
  const Batch batch = *batcher.At(batcher.Epoch(2, false, nullptr)[0], PlainPipeline(1), nullptr);
  EXPECT_EQ(batch.image.sizes(), at::IntArrayRef({2, 1, 2, 2}));
  EXPECT_TRUE(at::equal(batch.image[0], at::full({1, 2, 2}, 18.0f) / 255));
  EXPECT_TRUE(at::equal(batch.image[1], at::full({1, 2, 2}, 1.0f)));
}

// The limit is one byte less than 36 images of 3 x 2 x 2 need.
TEST(Batcher, ReadsLargeDataSetsForEachBatch) {
  const int64_t bytes = 36 * 12;
  std::shared_ptr<const ImageSource> source = Source(TestSet(36, 3));
  const Batcher read = *Batcher::Make(source, All(36), 3, kCpu, bytes - 1);
  EXPECT_GT(source.use_count(), 1);
  const Batcher resident = *Batcher::Make(source, All(36), 3, kCpu, bytes);
  RandomStream random(1, "order");
  for (const at::Tensor& samples : read.Epoch(8, false, &random)) {
    const Batch a = *read.At(samples, PlainPipeline(3), nullptr);
    const Batch b = *resident.At(samples, PlainPipeline(3), nullptr);
    EXPECT_TRUE(at::equal(a.image, b.image));
    EXPECT_TRUE(at::equal(a.label, b.label));
    EXPECT_TRUE(at::equal(a.sample, b.sample));
  }
}

// Image i has height i + 1; image 7 is corrupt.
class OddSizes : public ImageSource {
 public:
  OddSizes() { index_.label.assign(8, 0); }
  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return {1, 0, 0}; }
  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
    std::vector<Image> images;
    for (const int64_t sample : samples) {
      if (sample == 7) return absl::DataLossError("seven.png: damaged");
      images.push_back({1, sample + 1, 2, std::vector<uint8_t>(2 * (sample + 1), static_cast<uint8_t>(sample))});
    }
    return images;
  }

 private:
  SampleIndex index_;
};

TEST(Batcher, ImagesOfDifferentSizesPassTheFirstPartOneByOne) {
  const Batcher batcher = *Batcher::Make(std::make_shared<OddSizes>(), All(8), 3, kCpu);
  const Batch batch = *batcher.At(at::tensor(std::vector<int64_t>{5, 0, 6}, at::kLong), PlainPipeline(3), nullptr);
  ASSERT_EQ(batch.image.sizes(), at::IntArrayRef({3, 3, 2, 2}));
  for (const auto& [row, value] : {std::pair(0, 5.0f), std::pair(1, 0.0f), std::pair(2, 6.0f)}) {
    EXPECT_TRUE(at::equal(batch.image[row], at::full({3, 2, 2}, value) / 255));
  }
  EXPECT_EQ(batcher.At(at::tensor(std::vector<int64_t>{1, 7}, at::kLong), PlainPipeline(3), nullptr).status(),
            absl::DataLossError("seven.png: damaged"));
}

// Untrusted files decide the sizes.
TEST(Batcher, RefusesAnImageThatWouldBecomeHuge) {
  class Thin : public OddSizes {
   public:
    absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
      std::vector<Image> images;
      for (const int64_t sample : samples) {
        const int64_t width = sample == 3 ? 60000 : 2;
        images.push_back({1, 1, width, std::vector<uint8_t>(width)});
      }
      return images;
    }
  };
  InputFormat format;
  format.size = 2;
  const auto make = [&](int shorter_side) {
    std::vector<std::unique_ptr<const Augmentation>> augmentations;
    augmentations.push_back(MakeResizeShorterSide(shorter_side));
    augmentations.push_back(Make(CenterCropSpec(), 2));
    return *Pipeline::Make(std::move(augmentations), format, kCpu);
  };
  const Batcher batcher = *Batcher::Make(std::make_shared<Thin>(), All(8), 3, kCpu);
  const auto read = [&](const std::vector<int64_t>& samples, int shorter_side) {
    return batcher.At(at::tensor(samples, at::kLong), make(shorter_side), nullptr).status();
  };
  EXPECT_TRUE(read({1, 2}, 512).ok());
  EXPECT_TRUE(read({2, 3}, 4).ok());
  EXPECT_EQ(read({2, 3}, 4096).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read({2, 3}, 4096).message()), ::testing::StartsWith("sample 3: is 60000 x 1 pixels, of"));

  // The same for images on the device.
  ImageSet set = TestSet(2, 3);
  set.height = 1;
  set.width = 60000;
  set.pixels.assign(2 * set.image_bytes(), 0);
  const Batcher resident = *Batcher::Make(Source(std::move(set)), All(2), 3, kCpu);
  EXPECT_THAT(std::string(resident.At(at::tensor({0}, at::kLong), make(4096), nullptr).status().message()),
              ::testing::StartsWith("each image: is 60000 x 1 pixels, of"));
}

// Throws at image 5.
class Thrower : public Augmentation {
 public:
  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* /*staging*/) const override {
    TORCH_CHECK(images[0][0][0][0].item<int64_t>() != 5, "five");
    return images;
  }
  SizeEffect size_effect() const override { return SizeEffect::kFixes; }
};

TEST(Batcher, RethrowsExceptionsOfReading) {
  std::vector<std::unique_ptr<const Augmentation>> augmentations;
  augmentations.push_back(std::make_unique<Thrower>());
  InputFormat format;
  format.size = 2;
  const Pipeline pipeline = *Pipeline::Make(std::move(augmentations), format, kCpu);
  const Batcher batcher = *Batcher::Make(Source(TestSet(8, 3)), All(8), 3, kCpu, /*resident_bytes=*/0);
  const auto read = [&](const std::vector<int64_t>& samples) {
    return batcher.At(at::tensor(samples, at::kLong), pipeline, nullptr)->image.size(0);
  };
  EXPECT_EQ(read({0, 1, 2, 3, 4, 6, 7}), 7);
  EXPECT_THROW(read({0, 1, 2, 3, 4, 5, 6}), c10::Error);
}

// With a thread, and without one (the parameter).
class BatchStreamTest : public ::testing::TestWithParam<bool> {
 protected:
  BatchStreamTest() {
    if (GetParam()) none_.emplace();
  }
  std::optional<NoThreads> none_;
};

INSTANTIATE_TEST_SUITE_P(Threads, BatchStreamTest, ::testing::Bool());

TEST_P(BatchStreamTest, ReturnsTheBatchesInOrder) {
  const Batcher batcher = *Batcher::Make(Source(TestSet(50, 3)), All(50), 3, kCpu);
  const Pipeline pipeline = FlippingPipeline();
  RandomStream order(1, "order"), random(1, "augment"), same(1, "augment");
  const std::vector<at::Tensor> epoch = batcher.Epoch(8, false, &order);
  BatchStream stream(batcher, epoch, pipeline, &random);
  for (const at::Tensor& samples : epoch) {
    const Batch expected = *batcher.At(samples, pipeline, &same);
    const absl::StatusOr<std::optional<Batch>> batch = stream.Next();
    ASSERT_TRUE(batch.ok() && batch->has_value());
    EXPECT_TRUE(at::equal((*batch)->image, expected.image));
    EXPECT_TRUE(at::equal((*batch)->sample, samples));
  }
  EXPECT_FALSE(stream.Next()->has_value());
  EXPECT_FALSE(stream.Next()->has_value());
}

// Although batches are made ahead.
TEST_P(BatchStreamTest, ReturnsTheRandomStateAfterEachBatch) {
  for (const int64_t resident_bytes : {Batcher::kResidentBytes, int64_t{0}}) {
    const Batcher batcher = *Batcher::Make(Source(TestSet(50, 3)), All(50), 3, kCpu, resident_bytes);
    const Pipeline pipeline = FlippingPipeline();
    RandomStream order(1, "order"), random(1, "augment"), same(1, "augment");
    const std::vector<at::Tensor> epoch = batcher.Epoch(8, false, &order);
    BatchStream stream(batcher, epoch, pipeline, &random);
    EXPECT_EQ(stream.state().augment, same.state());
    for (const at::Tensor& samples : epoch) {
      ASSERT_TRUE(stream.Next()->has_value());
      batcher.At(samples, pipeline, &same).value();
      EXPECT_EQ(stream.state().augment, same.state());
    }
  }
}

TEST_P(BatchStreamTest, EndsAtTheFirstErrorOrAnywhere) {
  const Batcher batcher = *Batcher::Make(std::make_shared<OddSizes>(), All(8), 3, kCpu);
  const Pipeline pipeline = PlainPipeline(3);
  BatchStream stream(batcher, batcher.Epoch(3, false, nullptr), pipeline, nullptr);
  EXPECT_TRUE(stream.Next()->has_value());
  EXPECT_TRUE(stream.Next()->has_value());
  EXPECT_EQ(stream.Next().status(), absl::DataLossError("seven.png: damaged"));
  EXPECT_FALSE(stream.Next()->has_value());
  // The destructor ends a stream with batches left.
  BatchStream(batcher, batcher.Epoch(1, false, nullptr), pipeline, nullptr).Next().IgnoreError();
}

TEST_P(BatchStreamTest, RethrowsLibTorchsExceptions) {
  const Batcher batcher = *Batcher::Make(Source(TestSet(4, 3)), All(4), 3, kCpu);
  const Pipeline pipeline = PlainPipeline(3);
  BatchStream stream(batcher, {at::tensor(std::vector<int64_t>{9}, at::kLong)}, pipeline, nullptr);
  EXPECT_THROW(stream.Next().IgnoreError(), std::exception);
}

TEST(Batcher, RefusesImagesOfOtherChannels) {
  EXPECT_EQ(Batcher::Make(Source(TestSet(3, 2)), All(3), 1, kCpu).status(),
            absl::InvalidArgumentError("channels: the model takes 1, but the images have 2"));
}

}  // namespace
}  // namespace openset
