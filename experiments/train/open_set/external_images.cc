// Open-set source: images of an external data set, as ExternalImagesSpec in open_set.proto says. Each step has
// ceil(share * B) images, where B is the size of the current batch or, for FULL_BATCH, of a full one. Source: Hendrycks
// et al. 2019 (outlier-exposure, CIFAR/oe_scratch.py); there, as in the code of the unified benchmark, an epoch ends
// with the known data, so that each epoch sees another part of a large external set.
//
// With `mix` (MixOE, Zhang et al. 2023), image i of the batch is mixed with external image i, until either runs out;
// slot is i and partner -1. With `mix_beside_batch` (OpenMix, Zhu et al. 2023), the mixtures pass through the network
// together with the batch.
//
// With `pix_mix`, they are the mixing set of PixMix (pix_mix.h).
#include <cmath>

#include "core/status_macros.h"
#include "data/batcher.h"
#include "data/pipeline.h"
#include "experiments/train/open_set/extra_images.h"
#include "experiments/train/open_set/mixed_images.h"
#include "experiments/train/open_set/open_set_members.h"
#include "experiments/train/open_set/pix_mix.h"

namespace openset {
namespace {

class ExternalImages : public ExtraImageSource {
 public:
  ExternalImages(const ExternalImagesSpec& spec, int batch_size, Batcher images, Pipeline pipeline)
      : spec_(spec), batch_size_(batch_size), images_(std::move(images)), pipeline_(std::move(pipeline)) {}

  void StartEpoch(RandomStream* random) override { Shuffle(random); }

  absl::Status Draw(const DrawContext& context) override {
    const int64_t batch = context.label.size(0);
    const int64_t size = spec_.share_of() == ExternalImagesSpec::FULL_BATCH ? batch_size_ : batch;
    auto missing = static_cast<int64_t>(std::ceil(spec_.share() * static_cast<double>(size)));
    std::vector<at::Tensor> samples;
    while (missing > 0) {
      const bool all_used = order_.defined() && next_ == images_.size();
      if (all_used && spec_.ends_epoch() && !samples.empty()) break;
      if (!order_.defined() || all_used) Shuffle(context.random);
      const int64_t taken = std::min(missing, images_.size() - next_);
      samples.push_back(order_.slice(0, next_, next_ + taken));
      next_ += taken;
      missing -= taken;
    }
    OPENSET_RETURN_IF_ERROR(images_.Stage(at::cat(samples), pipeline_, context.random, context.staging));
    if (!spec_.has_mix()) return absl::OkStatus();
    *context.number = NumbersOf(DrawImageMix(spec_.mix(), context.height, context.width, context.random));
    return absl::OkStatus();
  }

  void Take(Staging* staging, Batch* batch) const override {
    at::Tensor image = images_.TakeStaged(pipeline_, staging).image;
    if (!spec_.has_mix()) {
      batch->open->image = std::move(image);
      return;
    }
    const int64_t n = std::min(image.size(0), batch->image.size(0));
    at::Tensor mixed = MixImages(spec_.mix(), ImageMixDrawOf(batch->open->number), batch->image.narrow(0, 0, n),
                                 image.narrow(0, 0, n));
    if (spec_.mix_beside_batch()) {
      batch->open->image = std::move(mixed);
    } else {
      batch->open->tensor = {std::move(mixed)};
    }
  }

  OpenSet Make(const Context& context) override {
    if (!spec_.has_mix()) return ExtraImageSource::Make(context);
    const double share = ImageMixDrawOf(context.batch.open->number).share;
    OpenSet open;
    open.output =
        spec_.mix_beside_batch() ? context.extra : context.forward(context.batch.open->tensor[0], /*norm_set=*/0);
    const int64_t n = open.output.logits.size(0);
    const at::TensorOptions number = open.output.logits.options().requires_grad(false);
    open.slot = at::arange(n, context.batch.label.options());
    open.weight = at::ones({n}, number);
    open.share = at::full({n}, share, number);
    open.partner = at::full({n}, -1, context.batch.label.options());
    return open;
  }

  int64_t MostSteps(int64_t batch_size) const override {
    if (!spec_.ends_epoch()) return ExtraImageSource::MostSteps(batch_size);
    const auto a_step = static_cast<int64_t>(std::ceil(spec_.share() * static_cast<double>(batch_size)));
    return (images_.size() + a_step - 1) / a_step;
  }

  // The state of the random stream before it drew the order, and the position in the order.
  std::vector<int64_t> EpochState() const override {
    std::vector<int64_t> state(before_order_.begin(), before_order_.end());
    state.push_back(next_);
    return state;
  }

  absl::Status ResumeEpoch(absl::Span<const int64_t> state) override {
    RandomStream::State before = {};
    if (state.size() == before.size() + 1) std::copy(state.begin(), state.end() - 1, before.begin());
    if (before == RandomStream::State{} || state.back() < 0 || state.back() > images_.size()) {
      return absl::InvalidArgumentError("the external images have no such place in an order");
    }
    RandomStream random(0, "");
    random.set_state(before);
    Shuffle(&random);
    next_ = state.back();
    return absl::OkStatus();
  }

 private:
  void Shuffle(RandomStream* random) {
    before_order_ = random->state();
    order_ = images_.Epoch(images_.size(), /*drop_last=*/false, random)[0];
    next_ = 0;
  }

  const ExternalImagesSpec spec_;
  const int64_t batch_size_;
  const Batcher images_;
  const Pipeline pipeline_;
  RandomStream::State before_order_ = {};  // the stream's state before it drew `order_`
  at::Tensor order_;                       // i64 [N]
  int64_t next_ = 0;                       // position in order_
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpenSetSource>> Make(const ExternalImagesSpec& spec, const OpenSetSetting& setting) {
  OPENSET_ASSIGN_OR_RETURN(PipelinedImages external, setting.external_images());
  auto images = std::make_unique<ExternalImages>(spec, setting.batch_size, std::move(external.images),
                                                 std::move(external.pipeline));
  if (!spec.has_pix_mix()) return images;
  return MakePixMixedImages(spec.pix_mix(), setting.format, setting.device, std::move(images));
}

}  // namespace openset
