#include "experiments/train/training_data.h"

#include <algorithm>
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

// Draws two numbers for each batch, the first of which counts the batches of the epoch.
class CountedDraws : public OpenSetSource {
 public:
  explicit CountedDraws(int64_t most_steps) : most_steps_(most_steps) {}
  void StartEpoch(RandomStream* /*random*/) override { drawn_ = 0; }
  absl::Status Draw(const DrawContext& context) override {
    if (context.label.size(0) == 1) return absl::NotFoundError("cannot open sea.png");
    *context.number = {static_cast<double>(drawn_++), context.random->Uniform()};
    return absl::OkStatus();
  }
  OpenSet Make(const Context& /*context*/) override { return {}; }
  int64_t MostSteps(int64_t /*batch_size*/) const override { return most_steps_; }
  std::vector<int64_t> EpochState() const override { return {drawn_}; }
  absl::Status ResumeEpoch(absl::Span<const int64_t> state) override {
    if (state.size() != 1) return absl::InvalidArgumentError("no count");
    drawn_ = state[0];
    return absl::OkStatus();
  }

 private:
  const int64_t most_steps_;
  int64_t drawn_ = 0;
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
  (*data)->UseOpenSet(std::make_shared<CountedDraws>(2));
  EXPECT_EQ((*data)->batches_per_pass(), 2);
  (*data)->StartEpoch(0);
  EXPECT_EQ((*data)->left(), 2);
  (*data)->UseOpenSet(std::make_shared<CountedDraws>(7));
  EXPECT_EQ((*data)->batches_per_pass(), 3);
}

// Two passes of 5, 5 and 2 images, stopped after each batch: the crops, flips and draws of the open set that follow are
// the same, and what was seen is not read again. Only the first pass has an open set.
TEST(TrainingData, AnEpochResumesAfterItsLastBatch) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  NumbersCache images;
  ActionContext context = scene.Context();
  context.images = &images;
  const auto make = [&] {
    absl::StatusOr<std::unique_ptr<TrainingData>> data = TrainingData::Make(action, context);
    EXPECT_THAT(data, IsOk());
    (*data)->UseOpenSet(std::make_shared<CountedDraws>(3));
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
  std::vector<BatchStream::State> state;
  undisturbed->StartEpoch(7);
  for (int b = 0; b < 6; ++b) {
    state.push_back(undisturbed->state());
    EXPECT_THAT(state.back().source, testing::ElementsAre(std::min(b, 3)));
    batches.push_back(next(undisturbed.get()));
    ASSERT_EQ(batches.back().open.has_value(), b < 3);
  }
  for (int given = 0; given < 6; ++given) {
    const auto resumed = make();
    images.read = 0;
    ASSERT_THAT(resumed->ResumeEpoch(7, given, state[given]), IsOk());
    int64_t left = 0;
    for (int b = given; b < 6; ++b) {
      const Batch batch = next(resumed.get());
      EXPECT_THAT(batch.image, TensorEq(batches[b].image)) << given << " " << b;
      EXPECT_THAT(batch.sample, TensorEq(batches[b].sample)) << given << " " << b;
      EXPECT_EQ(batch.open.has_value(), b < 3);
      if (batch.open.has_value()) {
        EXPECT_EQ(batch.open->number, batches[b].open->number) << given << " " << b;
      }
      left += batch.label.size(0);
    }
    EXPECT_EQ(images.read, left);
  }
  BatchStream::State no_source = state[1];
  no_source.source.clear();
  EXPECT_THAT(make()->ResumeEpoch(7, 1, no_source), StatusIs(absl::StatusCode::kInvalidArgument, "no count"));
}

// Batches of 11 and 1 images.
TEST(TrainingData, TheSourcesErrorsEndTheStream) {
  const TrainingScene scene;
  const TrainAction action = scene.Action("training { batch_size: 11 }");
  NumbersCache images;
  ActionContext context = scene.Context();
  context.images = &images;
  const absl::StatusOr<std::unique_ptr<TrainingData>> data = TrainingData::Make(action, context);
  ASSERT_THAT(data, IsOk());
  (*data)->UseOpenSet(std::make_shared<CountedDraws>(2));
  (*data)->StartEpoch(0);
  EXPECT_THAT((*data)->Next(), IsOk());
  EXPECT_THAT((*data)->Next(), StatusIs(absl::StatusCode::kNotFound, "cannot open sea.png"));
}

}  // namespace
}  // namespace openset
