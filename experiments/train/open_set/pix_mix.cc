#include "experiments/train/open_set/pix_mix.h"

#include <cstddef>

#include "core/logging.h"
#include "core/status_macros.h"
#include "core/tensor/transfer.h"
#include "data/augment/pixels/pixel_size.h"

namespace openset {
namespace {

constexpr int64_t kWhole = int64_t{1} << 20;  // an AugMix coefficient of 1
constexpr double kLeastFactor = 1e-37;

bool HeadsOf(RandomStream* random) { return random->Below(2) == 0; }

// Adds the changes of images of `size` to `staging`: the rows that are changed; where each image comes from, itself or,
// from N on, the changed ones; and how they are changed.
void StageChanges(const std::vector<std::optional<AugMixStep>>& changes, PixelSize size, Staging* staging) {
  std::vector<int64_t> rows, from;
  std::vector<AugMixDraw> draws;
  for (size_t i = 0; i < changes.size(); ++i) {
    from.push_back(static_cast<int64_t>(changes[i].has_value() ? changes.size() + rows.size() : i));
    if (!changes[i].has_value()) continue;
    rows.push_back(static_cast<int64_t>(i));
    draws.push_back({{kWhole, {*changes[i]}}});
  }
  staging->Add(at::tensor(rows, at::kLong));
  staging->Add(at::tensor(from, at::kLong));
  if (!rows.empty()) StageAugMix(draws, size, staging);
}

// Returns `images` with the next changes of `staging` applied, and `otherwise` for images without a change.
at::Tensor Changed(const at::Tensor& images, const at::Tensor& otherwise, Staging* staging) {
  const at::Tensor rows = staging->Next(), from = staging->Next();
  if (rows.size(0) == 0) return otherwise;
  return at::cat({otherwise, ApplyStagedAugMix(images.index_select(0, rows), staging)}).index_select(0, from);
}

// Adds round `r` of all images: f32 [4, B, 1, 1, 1] with a, b, whether it multiplies and whether it takes place; and
// the changes.
void StageRound(const std::vector<PixMixDraw>& draws, size_t r, PixelSize size, Staging* staging) {
  std::vector<double> a, b, multiplies, takes_place;
  std::vector<std::optional<AugMixStep>> changes;
  for (const PixMixDraw& draw : draws) {
    const PixMixRound round = r < draw.rounds.size() ? draw.rounds[r] : PixMixRound();
    changes.push_back(round.change);
    a.push_back(round.a);
    b.push_back(round.b);
    multiplies.push_back(round.multiplies);
    takes_place.push_back(r < draw.rounds.size());
  }
  std::vector<double> numbers;
  for (const auto& column : {a, b, multiplies, takes_place}) {
    numbers.insert(numbers.end(), column.begin(), column.end());
  }
  staging->Add(at::tensor(numbers, at::kDouble).to(at::kFloat).view({4, -1, 1, 1, 1}));
  StageChanges(changes, size, staging);
}

at::Tensor ToUnit(const at::Tensor& images) { return images.to(at::kFloat).div_(255); }

size_t RoundsOf(const std::vector<PixMixDraw>& draws) {
  size_t rounds = 0;
  for (const PixMixDraw& draw : draws) rounds = std::max(rounds, draw.rounds.size());
  return rounds;
}

// ApplyPixMix() in two steps: adds the draws for images of `size` to `staging`; takes them from it.
void StagePixMix(const std::vector<PixMixDraw>& draws, PixelSize size, Staging* staging) {
  std::vector<std::optional<AugMixStep>> starts;
  for (const PixMixDraw& draw : draws) starts.push_back(draw.start);
  StageChanges(starts, size, staging);
  for (size_t r = 0; r < RoundsOf(draws); ++r) StageRound(draws, r, size, staging);
}

at::Tensor ApplyStagedPixMix(const at::Tensor& images, const at::Tensor& pictures, size_t rounds, Staging* staging) {
  at::Tensor mixed = ToUnit(Changed(images, images, staging));
  for (size_t r = 0; r < rounds; ++r) {
    const std::vector<at::Tensor> number = staging->Next().unbind(0);
    const at::Tensor &a = number[0], &b = number[1], &multiplies = number[2], &takes_place = number[3];
    const at::Tensor y = ToUnit(Changed(images, pictures, staging));
    const at::Tensor sum = (a * (2 * mixed - 1) + b * (2 * y - 1) + 1) / 2;
    const at::Tensor product = (2 * mixed).pow(a) * (2 * y).clamp_min(kLeastFactor).pow(b) / 2;
    const at::Tensor next = at::where(multiplies.gt(0), product, sum).clamp(0, 1);
    mixed = at::where(takes_place.gt(0), next, mixed);
  }
  return mixed;
}

class PixMixedImages : public OpenSetSource {
 public:
  PixMixedImages(const PixMixSpec& spec, const InputFormat& format, at::Device device,
                 std::unique_ptr<OpenSetSource> pictures)
      : spec_(spec),
        mean_(Channels(format.mean, 0, device)),
        std_(Channels(format.std, 1, device)),
        pictures_(std::move(pictures)) {}

  void StartEpoch(RandomStream* random) override { pictures_->StartEpoch(random); }

  absl::Status Draw(const DrawContext& context) override {
    OPENSET_RETURN_IF_ERROR(pictures_->Draw(context));
    const std::vector<PixMixDraw> draws =
        DrawPixMix(spec_, context.label.size(0), context.height, context.width, context.random);
    *context.number = {static_cast<double>(RoundsOf(draws))};
    StagePixMix(draws, {context.height, context.width}, context.staging);
    return absl::OkStatus();
  }

  void Take(Staging* staging, Batch* batch) const override {
    pictures_->Take(staging, batch);
    const at::Tensor pictures = Bytes(batch->open->image);
    const at::Tensor place = at::arange(batch->label.size(0), batch->label.options()).remainder(pictures.size(0));
    const auto rounds = static_cast<size_t>(batch->open->number[0]);
    const at::Tensor mixed = ApplyStagedPixMix(Bytes(batch->image), pictures.index_select(0, place), rounds, staging);
    batch->open->image = ((mixed - mean_) / std_).contiguous(batch->image.suggest_memory_format());
  }

  bool ReplacesBatch() const override { return true; }
  int64_t MostSteps(int64_t batch_size) const override { return pictures_->MostSteps(batch_size); }

  OpenSet Make(const Context& context) override {
    const int64_t n = context.batch.label.size(0);
    const at::Tensor ones = at::ones({n}, context.extra.logits.options().requires_grad(false));
    return {context.extra, at::arange(n, context.batch.label.options()), ones, ones, context.batch.label};
  }

  std::vector<int64_t> EpochState() const override { return pictures_->EpochState(); }
  absl::Status ResumeEpoch(absl::Span<const int64_t> state) override { return pictures_->ResumeEpoch(state); }

 private:
  static at::Tensor Channels(const std::vector<double>& values, double absent, at::Device device) {
    const at::Tensor host = at::tensor(values.empty() ? std::vector<double>{absent} : values, at::kDouble);
    return host.to(at::kFloat).view({1, -1, 1, 1}).to(device);
  }

  at::Tensor Bytes(const at::Tensor& images) const {
    return (images * std_ + mean_).mul_(255).round_().clamp_(0, 255).to(at::kByte).contiguous();
  }

  const PixMixSpec spec_;
  const at::Tensor mean_, std_;
  const std::unique_ptr<OpenSetSource> pictures_;
};

}  // namespace

std::vector<PixMixDraw> DrawPixMix(const PixMixSpec& spec, int64_t images, int64_t height, int64_t width,
                                   RandomStream* random) {
  const auto change = [&] { return DrawAugMixStep(spec.severity(), height, width, random); };
  std::vector<PixMixDraw> draws(static_cast<size_t>(images));
  for (PixMixDraw& draw : draws) {
    if (HeadsOf(random)) draw.start = change();
    draw.rounds.resize(random->Below(static_cast<uint64_t>(spec.rounds()) + 1));
    for (PixMixRound& round : draw.rounds) {
      if (HeadsOf(random)) round.change = change();
      round.multiplies = HeadsOf(random);
      const bool averages = HeadsOf(random);
      round.a = averages ? random->Beta(spec.strength(), 1) : 1 + random->Beta(1, spec.strength());
      round.b = random->Beta(1, spec.strength());
      if (!averages) round.b = -round.b;
    }
  }
  return draws;
}

at::Tensor ApplyPixMix(const at::Tensor& images, const at::Tensor& pictures, const std::vector<PixMixDraw>& draws) {
  CHECK_EQ(static_cast<int64_t>(draws.size()), images.size(0)) << "one draw per image";
  Staging staging;
  StagePixMix(draws, {images.size(2), images.size(3)}, &staging);
  staging.MoveTo(images.device());
  return ApplyStagedPixMix(images, pictures, RoundsOf(draws), &staging);
}

std::unique_ptr<OpenSetSource> MakePixMixedImages(const PixMixSpec& spec, const InputFormat& format, at::Device device,
                                                  std::unique_ptr<OpenSetSource> pictures) {
  return std::make_unique<PixMixedImages>(spec, format, device, std::move(pictures));
}

}  // namespace openset
