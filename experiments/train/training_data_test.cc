#include "experiments/train/training_data.h"

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "data/catalog.h"
#include "data/image_source.h"
#include "experiments/train/testing/training_scene.h"
#include "experiments/worker/image_cache.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

// 12 images whose pixels are their index, each read again for each batch.
class Numbers : public ImageSource {
 public:
  explicit Numbers(std::atomic<int64_t>* read) : read_(read) { index_.label.assign(12, 0); }
  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return {1, 16, 16}; }
  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
    *read_ += static_cast<int64_t>(samples.size());
    std::vector<Image> images;
    for (const int64_t sample : samples) {
      images.push_back({1, 16, 16, std::vector<uint8_t>(256, static_cast<uint8_t>(sample))});
    }
    return images;
  }

 private:
  std::atomic<int64_t>* const read_;
  SampleIndex index_;
};

class NumbersCache : public ImageCache {
 public:
  NumbersCache() : ImageCache(Catalog({}), {}) {}
  absl::StatusOr<Batcher> MakeBatcher(const Selection&, int channels, at::Device device) override {
    SelectedSamples samples;
    for (int64_t s = 0; s < 12; ++s) {
      samples.index.push_back(s);
      samples.label.push_back(0);
    }
    return Batcher::Make(std::make_shared<Numbers>(&read), std::move(samples), channels, device, /*resident_bytes=*/0);
  }

  std::atomic<int64_t> read = 0;
};

// zip() of two loaders, of which the other one has two batches.
TEST(TrainingData, APassMayEndBeforeItsSamplesDo) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  NumbersCache images;
  ActionContext context = scene.Context();
  context.images = &images;
  const absl::StatusOr<std::unique_ptr<TrainingData>> data = TrainingData::Make(action, context);
  ASSERT_THAT(data, IsOk());
  (*data)->LimitBatches(2);
  EXPECT_EQ((*data)->batches_per_pass(), 2);
  (*data)->StartEpoch(0);
  EXPECT_EQ((*data)->left(), 2);
  (*data)->LimitBatches(7);
  EXPECT_EQ((*data)->batches_per_pass(), 3);
}

// Two passes of 5, 5 and 2 images, stopped after each batch: the crops and flips that follow are the same, and what was
// seen is not read again.
TEST(TrainingData, AnEpochResumesAfterItsLastBatch) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  NumbersCache images;
  ActionContext context = scene.Context();
  context.images = &images;
  const auto make = [&] {
    absl::StatusOr<std::unique_ptr<TrainingData>> data = TrainingData::Make(action, context);
    EXPECT_THAT(data, IsOk());
    return *std::move(data);
  };
  const auto next = [](TrainingData* data) {
    if (data->left() == 0) data->StartPass();
    const absl::StatusOr<Batch> batch = data->Next();
    EXPECT_THAT(batch, IsOk());
    return *batch;
  };
  const auto undisturbed = make();
  ASSERT_EQ(undisturbed->batches_per_pass(), 3);
  std::vector<Batch> batches;
  std::vector<RandomStream::State> augment;
  undisturbed->StartEpoch(7);
  for (int b = 0; b < 6; ++b) {
    augment.push_back(undisturbed->augment_state());
    batches.push_back(next(undisturbed.get()));
  }
  for (int given = 0; given < 6; ++given) {
    const auto resumed = make();
    images.read = 0;
    resumed->ResumeEpoch(7, given, augment[given]);
    int64_t left = 0;
    for (int b = given; b < 6; ++b) {
      const Batch batch = next(resumed.get());
      EXPECT_THAT(batch.image, TensorEq(batches[b].image)) << given << " " << b;
      EXPECT_THAT(batch.sample, TensorEq(batches[b].sample)) << given << " " << b;
      left += batch.label.size(0);
    }
    EXPECT_EQ(images.read, left);
  }
}

}  // namespace
}  // namespace openset
