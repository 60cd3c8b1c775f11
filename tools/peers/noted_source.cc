#include "tools/peers/noted_source.h"

// core/tensor/torch.h comes first, because core/logging.h replaces its macros.
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/logging.h"
#include "core/random.h"
#include "data/batcher.h"
#include "data/image_source.h"
#include "data/pipeline.h"
#include "experiments/train/open_set/open_set_members.h"
#include "experiments/train/open_set/virtual_outliers.h"

namespace openset {
namespace {

constexpr int64_t kExternalImages = 200;

// Colour images whose pixels are random bytes.
PipelinedImages MakeUpExternalImages(const NotedSourceSizes& sizes) {
  RandomStream random(0, "external");
  ImageSet set;
  set.channels = 3;
  set.height = set.width = static_cast<int>(sizes.image);
  SelectedSamples samples;
  for (int64_t i = 0; i < kExternalImages; ++i) {
    set.labels.push_back(0);
    samples.index.push_back(i);
    samples.label.push_back(0);
    for (int64_t p = 0; p < 3 * sizes.image * sizes.image; ++p) {
      set.pixels.push_back(static_cast<uint8_t>(random.Below(256)));
    }
  }
  InputFormat format;
  format.size = static_cast<int>(sizes.image);
  format.mean = {0.5};
  format.std = {0.25};
  absl::StatusOr<Batcher> images =
      Batcher::Make(MakeMemorySource(std::move(set), "train"), std::move(samples), 3, at::kCPU);
  absl::StatusOr<Pipeline> pipeline = Pipeline::Make({}, format, at::kCPU);
  CHECK(images.ok() && pipeline.ok()) << images.status() << pipeline.status();
  return {*std::move(images), *std::move(pipeline)};
}

class NotedSource : public OpenSetSource {
 public:
  NotedSource(const OpenSetSpec& spec, const NotedSourceSizes& sizes, at::ScalarType dtype, Draws* draws)
      : spec_(spec), sizes_(sizes), dtype_(dtype), draws_(*draws) {
    OpenSetSetting setting;
    setting.batch_size = static_cast<int>(sizes.batch);
    setting.classes = sizes.classes;
    setting.feature_dim = sizes.feature_dim;
    setting.stages = sizes.stages;
    setting.external_images = [&] { return MakeUpExternalImages(sizes); };
    absl::StatusOr<std::unique_ptr<OpenSetSource>> source = openset::Make(spec, setting);
    CHECK(source.ok()) << source.status() << spec.ShortDebugString();
    source_ = *std::move(source);
  }

  void StartEpoch(RandomStream* random) override { source_->StartEpoch(random); }

  absl::Status Draw(const DrawContext& context) override {
    Note(*context.random);
    return source_->Draw(context);
  }

  void Take(Staging* staging, Batch* batch) const override {
    source_->Take(staging, batch);
    if (batch->open->image.defined()) batch->open->image = Noted(batch->open->image);
  }

  OpenSet Make(const Context& context) override {
    const auto forward = [&](const at::Tensor& images, int norm_set) {
      return context.forward(Noted(images), norm_set);
    };
    OpenSet open = source_->Make(
        {context.batch, context.known, context.extra, forward, context.head, context.objective, context.forward_from});
    if (open.share.defined()) draws_["share"].push_back(open.share[0].to(at::kDouble));
    return open;
  }
  bool ReplacesBatch() const override { return source_->ReplacesBatch(); }
  std::vector<std::pair<std::string, at::Tensor>> State() const override { return source_->State(); }

 private:
  // What the network sees: as it is written down.
  at::Tensor Noted(const at::Tensor& images) const {
    draws_["extra"].push_back(images.to(at::kFloat));
    return draws_["extra"].back().to(dtype_).contiguous(at::MemoryFormat::ChannelsLast);
  }

  // Notes what the source is about to draw from this stream.
  void Note(RandomStream random) {
    const auto note_order = [&](int64_t n) { draws_["order"].push_back(at::tensor(random.Permutation(n), at::kLong)); };
    const auto note_coefficient = [&](double alpha) {
      draws_["coefficient"].push_back(at::scalar_tensor(random.Beta(alpha, alpha), at::kDouble));
    };
    if (spec_.has_mixed_images()) note_order(sizes_.batch);
    if (spec_.has_feature_mixup()) {
      const bool half = spec_.feature_mixup().mixed() == FeatureMixupSpec::SECOND_HALF;
      note_order(half ? sizes_.batch / 2 : sizes_.batch);
      note_coefficient(spec_.feature_mixup().alpha());
    }
    if (spec_.has_stage_mixup()) {
      note_order(sizes_.batch / 2);
      note_coefficient(spec_.stage_mixup().alpha());
    }
    if (spec_.has_virtual_outliers()) {
      draws_["far"].push_back(DrawFarPoints(spec_.virtual_outliers(), sizes_.classes, sizes_.feature_dim, &random));
    }
  }

  const OpenSetSpec spec_;
  const NotedSourceSizes sizes_;
  const at::ScalarType dtype_;
  Draws& draws_;
  std::unique_ptr<OpenSetSource> source_;
};

}  // namespace

std::unique_ptr<OpenSetSource> MakeNotedSource(const OpenSetSpec& spec, const NotedSourceSizes& sizes,
                                               at::ScalarType dtype, Draws* draws) {
  return std::make_unique<NotedSource>(spec, sizes, dtype, draws);
}

}  // namespace openset
