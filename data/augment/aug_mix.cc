#include "data/augment/aug_mix.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/logging.h"
#include "data/augment/augmentation_members.h"
#include "data/augment/pixels/apply_pixel_ops.h"
#include "data/augment/pixels/make_pixel_op.h"

namespace openset {
namespace {

constexpr int kOpCount = 9;
constexpr int kFractionBits = 20;
constexpr int64_t kOne = int64_t{1} << kFractionBits;

bool HasLevel(AugMixOp op) { return op != AugMixOp::kAutoContrast && op != AugMixOp::kEqualize; }

bool HasSign(AugMixOp op) { return HasLevel(op) && op != AugMixOp::kPosterize && op != AugMixOp::kSolarize; }

PixelOp PixelOpOf(const AugMixStep& step, PixelSize size) {
  switch (step.op) {
    case AugMixOp::kAutoContrast:
      return AutoContrast();
    case AugMixOp::kEqualize:
      return Equalize();
    case AugMixOp::kPosterize:
      return Posterize(step.value);
    case AugMixOp::kSolarize:
      return Solarize(step.value);
    case AugMixOp::kRotate:
      return Rotate(step.value, size, Interpolation::kBilinear);
    case AugMixOp::kShearX:
      return ShearX(step.value, Interpolation::kBilinear);
    case AugMixOp::kShearY:
      return ShearY(step.value, Interpolation::kBilinear);
    case AugMixOp::kTranslateX:  // by whole pixels: there is nothing to interpolate
      return TranslateX(step.value);
    case AugMixOp::kTranslateY:
      return TranslateY(step.value);
  }
  LOG(FATAL) << "no operation " << static_cast<int>(step.op);
}

// Chain i is for image i of `size`. Shorter chains end with operations that do nothing.
at::Tensor Packed(const std::vector<const AugMixChain*>& chains, PixelSize size) {
  size_t depth = 0;
  for (const AugMixChain* chain : chains) depth = std::max(depth, chain->steps.size());
  std::vector<PixelOp> ops(chains.size() * depth);
  for (size_t i = 0; i < chains.size(); ++i) {
    for (size_t step = 0; step < chains[i]->steps.size(); ++step) {
      ops[i * depth + step] = PixelOpOf(chains[i]->steps[step], size);
    }
  }
  return PackPixelOps(ops, static_cast<int64_t>(chains.size()));
}

class AugMix : public Augmentation {
 public:
  explicit AugMix(const AugMixSpec& spec) : spec_(spec) {}

  void Draw(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const override {
    StageAugMix(DrawAugMix(spec_, count, size.height, size.width, random), size, staging);
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    return ApplyStagedAugMix(images, staging, !gives_fractions());
  }

  bool gives_fractions() const override { return spec_.rounding() == AugMixSpec::NONE; }

 private:
  const AugMixSpec spec_;
};

}  // namespace

double AugMixValue(AugMixOp op, double level, int64_t height, int64_t width) {
  switch (op) {
    case AugMixOp::kAutoContrast:
    case AugMixOp::kEqualize:
      return 0;
    case AugMixOp::kPosterize:
      return std::max(1.0, 4 - std::trunc(level * 4 / 10));
    case AugMixOp::kSolarize:
      return 256 - std::trunc(level * 256 / 10);
    case AugMixOp::kRotate:
      return std::trunc(level * 30 / 10);
    case AugMixOp::kShearX:
    case AugMixOp::kShearY:
      return level * 0.3 / 10;
    case AugMixOp::kTranslateX:
      return std::trunc(level * (static_cast<double>(width) / 3) / 10);
    case AugMixOp::kTranslateY:
      return std::trunc(level * (static_cast<double>(height) / 3) / 10);
  }
  LOG(FATAL) << "no operation " << static_cast<int>(op);
}

AugMixStep DrawAugMixStep(double severity, int64_t height, int64_t width, RandomStream* random) {
  AugMixStep step;
  step.op = static_cast<AugMixOp>(random->Below(kOpCount));
  if (HasLevel(step.op)) step.value = AugMixValue(step.op, random->Uniform(0.1, severity), height, width);
  if (HasSign(step.op) && random->Below(2) == 1) step.value = -step.value;
  return step;
}

std::vector<AugMixDraw> DrawAugMix(const AugMixSpec& spec, int64_t images, int64_t height, int64_t width,
                                   RandomStream* random) {
  std::vector<AugMixDraw> draws(images);
  std::vector<double> weights(spec.width());
  for (AugMixDraw& draw : draws) {
    double sum = 0;
    for (double& weight : weights) sum += weight = random->Gamma(spec.alpha());
    const double m = random->Beta(spec.alpha(), spec.alpha());
    draw.resize(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      draw[i].coefficient = static_cast<int64_t>(std::floor(m * (weights[i] / sum) * kOne));
      draw[i].steps.resize(spec.depth() > 0 ? spec.depth() : 1 + random->Below(3));
      for (AugMixStep& step : draw[i].steps) step = DrawAugMixStep(spec.severity(), height, width, random);
    }
  }
  return draws;
}

void StageAugMix(const std::vector<AugMixDraw>& draws, PixelSize size, Staging* staging) {
  const size_t width = draws.empty() ? 0 : draws[0].size();
  // The first chain of each image, the second one ..., the images themselves.
  std::vector<const AugMixChain*> chains;
  std::vector<int32_t> coefficients;
  std::vector<int32_t> rest(draws.size(), kOne);
  for (size_t k = 0; k < width; ++k) {
    for (size_t i = 0; i < draws.size(); ++i) {
      CHECK_EQ(draws[i].size(), width) << "as many chains for each image";
      chains.push_back(&draws[i][k]);
      coefficients.push_back(static_cast<int32_t>(draws[i][k].coefficient));
      rest[i] -= coefficients.back();
      CHECK(coefficients.back() >= 0 && rest[i] >= 0) << "coefficients that sum to at most 2^20";
    }
  }
  coefficients.insert(coefficients.end(), rest.begin(), rest.end());
  staging->Add(Packed(chains, size));
  staging->Add(at::tensor(coefficients, at::kInt).view({-1, 1, 1, 1}));
}

at::Tensor ApplyStagedAugMix(const at::Tensor& images, Staging* staging, bool rounded) {
  const at::Tensor ops = staging->Next(), coefficients = staging->Next();
  if (images.size(0) == 0) return images;
  const int64_t terms = coefficients.size(0) / images.size(0);
  const at::Tensor outcomes = at::cat({ApplyPackedPixelOps(images.repeat({terms - 1, 1, 1, 1}), ops), images});
  // Sums of at most 255 * 2^20, and a half for rounding: i32.
  const at::Tensor weighted = outcomes.to(at::kInt).mul_(coefficients);
  at::Tensor sum = weighted.view({terms, -1}).sum(0, /*keepdim=*/false, at::kInt);
  if (!rounded) return sum.to(at::kFloat).div_(kOne).view(images.sizes());
  return sum.add_(kOne / 2).bitwise_right_shift_(kFractionBits).to(at::kByte).view(images.sizes());
}

at::Tensor ApplyAugMix(const at::Tensor& images, const std::vector<AugMixDraw>& draws, bool rounded) {
  CHECK_EQ(draws.size(), images.size(0)) << "one draw per image";
  Staging staging;
  StageAugMix(draws, {images.size(2), images.size(3)}, &staging);
  staging.MoveTo(images.device());
  return ApplyStagedAugMix(images, &staging, rounded);
}

std::unique_ptr<Augmentation> Make(const AugMixSpec& spec, int /*input_size*/) {
  return std::make_unique<AugMix>(spec);
}

}  // namespace openset
