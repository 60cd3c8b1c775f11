#include "data/open_set/pix_mix.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/logging.h"
#include "core/status_macros.h"
#include "core/tensor/to_device.h"

namespace openset {
namespace {

constexpr int64_t kWhole = int64_t{1} << 20;  // an AugMix coefficient of 1
constexpr double kLeastFactor = 1e-37;

bool HeadsOf(RandomStream* random) { return random->Below(2) == 0; }

// Returns `images` with their changes applied, and `otherwise` for images without a change.
at::Tensor Changed(const at::Tensor& images, const at::Tensor& otherwise,
                   const std::vector<std::optional<AugMixStep>>& changes) {
  std::vector<int64_t> rows;
  std::vector<AugMixDraw> draws;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!changes[i].has_value()) continue;
    rows.push_back(static_cast<int64_t>(i));
    draws.push_back({{kWhole, {*changes[i]}}});
  }
  if (rows.empty()) return otherwise;
  const at::Tensor places = ToDevice(at::tensor(rows, at::kLong), images.device());
  return otherwise.index_copy(0, places, ApplyAugMix(images.index_select(0, places), draws));
}

at::Tensor ToUnit(const at::Tensor& images) { return images.to(at::kFloat).div_(255); }

at::Tensor Column(const std::vector<double>& values, at::Device device) {
  return ToDevice(at::tensor(values, at::kDouble).to(at::kFloat).view({-1, 1, 1, 1}), device);
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

  absl::StatusOr<at::Tensor> ExtraImages(const Batch& batch, RandomStream* random) override {
    OPENSET_ASSIGN_OR_RETURN(const at::Tensor pictures, pictures_->ExtraImages(batch, random));
    const at::Tensor& image = batch.image;
    const int64_t n = image.size(0);
    const std::vector<PixMixDraw> draws = DrawPixMix(spec_, n, image.size(2), image.size(3), random);
    const at::Tensor place = at::arange(n, batch.label.options()).remainder(pictures.size(0));
    const at::Tensor mixed = ApplyPixMix(Bytes(image), Bytes(pictures).index_select(0, place), draws);
    return ((mixed - mean_) / std_).contiguous(at::MemoryFormat::ChannelsLast);
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
    return Column(values.empty() ? std::vector<double>{absent} : values, device).view({1, -1, 1, 1});
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
  std::vector<std::optional<AugMixStep>> changes;
  size_t rounds = 0;
  for (const PixMixDraw& draw : draws) {
    changes.push_back(draw.start);
    rounds = std::max(rounds, draw.rounds.size());
  }
  at::Tensor mixed = ToUnit(Changed(images, images, changes));
  for (size_t r = 0; r < rounds; ++r) {
    std::vector<double> a, b, multiplies, goes_on;
    for (size_t i = 0; i < draws.size(); ++i) {
      const PixMixRound round = r < draws[i].rounds.size() ? draws[i].rounds[r] : PixMixRound();
      changes[i] = round.change;
      a.push_back(round.a);
      b.push_back(round.b);
      multiplies.push_back(round.multiplies);
      goes_on.push_back(r < draws[i].rounds.size());
    }
    const at::Device device = images.device();
    const at::Tensor y = ToUnit(Changed(images, pictures, changes));
    const at::Tensor as = Column(a, device), bs = Column(b, device);
    const at::Tensor sum = (as * (2 * mixed - 1) + bs * (2 * y - 1) + 1) / 2;
    const at::Tensor product = (2 * mixed).pow(as) * (2 * y).clamp_min(kLeastFactor).pow(bs) / 2;
    const at::Tensor next = at::where(Column(multiplies, device).gt(0), product, sum).clamp(0, 1);
    mixed = at::where(Column(goes_on, device).gt(0), next, mixed);
  }
  return mixed;
}

std::unique_ptr<OpenSetSource> MakePixMixedImages(const PixMixSpec& spec, const InputFormat& format, at::Device device,
                                                  std::unique_ptr<OpenSetSource> pictures) {
  return std::make_unique<PixMixedImages>(spec, format, device, std::move(pictures));
}

}  // namespace openset
