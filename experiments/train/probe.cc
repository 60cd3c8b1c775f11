#include "experiments/train/probe.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/process/steady_clock.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "core/tensor/torch.h"
#include "data/batcher.h"
#include "data/catalog.h"
#include "data/image_source.h"
#include "data/task.pb.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/train/training_run.h"
#include "experiments/worker/execution.h"
#include "models/model.pb.h"

namespace openset {
namespace {

constexpr int64_t kDifferentImages = 16;
// An epoch has images of about this many bytes, but at least this many batches.
constexpr int64_t kEpochBytes = int64_t{32} << 20;
constexpr int64_t kFewestBatches = 2, kMostBatches = 64;
// On random images and labels a training with its own rate might diverge.
constexpr double kLearningRate = 1e-6;
constexpr int kEpochs = 1000000;
// The first steps allocate buffers, and choose algorithms on a GPU.
constexpr int kWarmUpStepsOfGpu = 5;
// The steps between two waits for a GPU, after which the clock is read.
constexpr absl::Duration kWaitEvery = absl::Milliseconds(200);

// The pixels of features are the bytes of floats, which are normal here: random bytes are also NaN and 1e38.
class RandomImages : public ImageSource {
 public:
  RandomImages(const ImageShape& shape, int64_t samples, bool are_features) : shape_(shape) {
    index_.label.assign(samples, 0);
    RandomStream random(0, "probe");
    for (int64_t i = 0; i < std::min(samples, kDifferentImages); ++i) {
      Image& image = images_.emplace_back(Image{shape.channels, shape.height, shape.width, {}});
      image.pixels.resize(shape.bytes());
      if (!are_features) {
        for (uint8_t& pixel : image.pixels) pixel = static_cast<uint8_t>(random.Bits() >> 56);
        continue;
      }
      std::vector<float> values(image.pixels.size() / sizeof(float));
      for (float& value : values) value = static_cast<float>(random.Normal());
      std::memcpy(image.pixels.data(), values.data(), values.size() * sizeof(float));
    }
  }

  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return shape_; }
  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
    std::vector<Image> images;
    images.reserve(samples.size());
    for (const int64_t sample : samples) images.push_back(images_[sample % images_.size()]);
    return images;
  }

 private:
  const ImageShape shape_;
  SampleIndex index_;
  std::vector<Image> images_;
};

// Batches of random images instead of the selections'.
class RandomImageCache : public ImageCache {
 public:
  RandomImageCache(const Catalog& catalog, const TrainAction& action) : ImageCache(catalog, {}), action_(action) {}

  absl::StatusOr<Batcher> MakeBatcher(const Selection& selection, int channels, at::Device device) override {
    const int64_t side = action_.input().size();
    ImageShape shape = {action_.input().channels(), side, side};
    const absl::StatusOr<const DataSetInfo*> info = catalog().Find(selection.data_set());
    const bool are_features = action_.model().has_features();
    if (are_features) {
      shape = {1, 1, action_.model().features().dim() * static_cast<int64_t>(sizeof(float))};
    } else if (info.ok() && (*info)->height() > 0) {
      shape = {(*info)->channels(), (*info)->height(), (*info)->width()};
    }
    const int64_t batch = action_.training().batch_size();
    // Passes without the open set must have their share of the time.
    const int64_t most = action_.open_set().plain_passes() > 0 ? kFewestBatches : kMostBatches;
    const int64_t batches = std::clamp(kEpochBytes / (batch * shape.bytes()), kFewestBatches, most);
    SelectedSamples samples;
    for (int64_t s = 0; s < batch * batches; ++s) {
      samples.index.push_back(s);
      samples.label.push_back(s % std::max(1, selection.class_id_size()));
    }
    auto source = std::make_shared<RandomImages>(shape, samples.size(), are_features);
    return Batcher::Make(std::move(source), std::move(samples), channels, device);
  }

 private:
  const TrainAction& action_;
};

}  // namespace

absl::Status Probe(const ProbeAction& probe, const ActionContext& context) {
  TrainAction action = probe.train();
  if (!action.has_training()) return absl::FailedPreconditionError("the action has no training to time");
  action.clear_evaluation();
  action.mutable_model()->clear_weights();
  action.mutable_training()->clear_max_steps();
  action.mutable_training()->clear_stop_after_epochs();
  action.mutable_training()->set_epochs(kEpochs);
  action.mutable_training()->mutable_optimizer()->set_learning_rate(kLearningRate);
  ConfigureExecution(action.execution());
  RandomImageCache images(context.images->catalog(), action);
  ActionContext on_random_images = context;
  on_random_images.images = &images;
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<TrainingRun> run, TrainingRun::Make(action, on_random_images));
  for (int s = 0; s < (context.device.is_cuda() ? kWarmUpStepsOfGpu : 1); ++s) OPENSET_RETURN_IF_ERROR(run->Step());
  run->MeanLoss();  // waits for the device
  const int64_t images_before = run->images_seen();
  const absl::Duration start = SteadyNow();
  absl::Duration waited = start;
  do {
    OPENSET_RETURN_IF_ERROR(run->Step());
    if (SteadyNow() - waited < kWaitEvery) continue;
    run->MeanLoss();
    waited = SteadyNow();
  } while (SteadyNow() - start < absl::Seconds(probe.seconds()));
  run->MeanLoss();
  WorkProgress progress;
  progress.set_fraction(1);
  progress.set_images_per_second(static_cast<double>(run->images_seen() - images_before) /
                                 absl::ToDoubleSeconds(SteadyNow() - start));
  context.report(progress);
  return absl::OkStatus();
}

}  // namespace openset
