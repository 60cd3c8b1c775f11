#include "data/augment/aug_mix.h"

#include <algorithm>
#include <cmath>

#include "core/logging.h"
#include "data/augment/affine_ops.h"
#include "data/augment/apply_grouped.h"
#include "data/augment/histogram_ops.h"
#include "data/augment/point_ops.h"

namespace openset {
namespace {

constexpr int kOpCount = 9;
constexpr int kFractionBits = 20;
constexpr int64_t kOne = int64_t{1} << kFractionBits;

bool HasLevel(AugMixOp op) { return op != AugMixOp::kAutoContrast && op != AugMixOp::kEqualize; }

bool HasSign(AugMixOp op) { return HasLevel(op) && op != AugMixOp::kPosterize && op != AugMixOp::kSolarize; }

at::Tensor ApplyOp(AugMixOp op, const at::Tensor& images, absl::Span<const double> values) {
  switch (op) {
    case AugMixOp::kAutoContrast:
      return AutoContrast(images);
    case AugMixOp::kEqualize:
      return Equalize(images);
    case AugMixOp::kPosterize:
      return Posterize(images, values);
    case AugMixOp::kSolarize:
      return Solarize(images, values);
    case AugMixOp::kRotate:
      return Rotate(images, values, Interpolation::kBilinear);
    case AugMixOp::kShearX:
      return ShearX(images, values, Interpolation::kBilinear);
    case AugMixOp::kShearY:
      return ShearY(images, values, Interpolation::kBilinear);
    case AugMixOp::kTranslateX:  // by whole pixels: nothing lies between
      return TranslateX(images, values);
    case AugMixOp::kTranslateY:
      return TranslateY(images, values);
  }
  LOG(FATAL) << "no operation " << static_cast<int>(op);
}

// Chain `chain` of each image.
at::Tensor ApplyChain(const at::Tensor& images, const std::vector<AugMixDraw>& draws, size_t chain) {
  size_t depth = 0;
  for (const AugMixDraw& draw : draws) depth = std::max(depth, draw[chain].steps.size());
  at::Tensor result = images;
  for (size_t step = 0; step < depth; ++step) {
    std::vector<int> op_of_image(draws.size(), -1);
    for (size_t i = 0; i < draws.size(); ++i) {
      const std::vector<AugMixStep>& steps = draws[i][chain].steps;
      if (step < steps.size()) op_of_image[i] = static_cast<int>(steps[step].op);
    }
    result = ApplyGrouped(result, op_of_image, kOpCount,
                          [&](int op, const at::Tensor& members, const std::vector<int64_t>& places) {
                            std::vector<double> values;
                            for (const int64_t i : places) values.push_back(draws[i][chain].steps[step].value);
                            return ApplyOp(static_cast<AugMixOp>(op), members, values);
                          });
  }
  return result;
}

at::Tensor PerImage(const std::vector<int32_t>& values, const at::Tensor& images) {
  return at::tensor(values, at::kInt).view({-1, 1, 1, 1}).to(images.device());
}

class AugMix : public Augmentation {
 public:
  explicit AugMix(const AugMixSpec& spec) : spec_(spec) {}

  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const override {
    return ApplyAugMix(images, DrawAugMix(spec_, images.size(0), images.size(2), images.size(3), random));
  }

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
      for (AugMixStep& step : draw[i].steps) {
        step.op = static_cast<AugMixOp>(random->Below(kOpCount));
        if (HasLevel(step.op)) step.value = AugMixValue(step.op, random->Uniform(0.1, spec.severity()), height, width);
        if (HasSign(step.op) && random->Below(2) == 1) step.value = -step.value;
      }
    }
  }
  return draws;
}

at::Tensor ApplyAugMix(const at::Tensor& images, const std::vector<AugMixDraw>& draws) {
  CHECK_EQ(draws.size(), images.size(0)) << "one draw per image";
  if (draws.empty()) return images;
  // Sums of at most 255 * 2^20 in i32.
  std::vector<int32_t> own(draws.size(), kOne);
  at::Tensor mixture = at::full(images.sizes(), kOne / 2, images.options().dtype(at::kInt));
  for (size_t chain = 0; chain < draws[0].size(); ++chain) {
    std::vector<int32_t> coefficients;
    for (size_t i = 0; i < draws.size(); ++i) {
      CHECK_EQ(draws[i].size(), draws[0].size()) << "as many chains for each image";
      coefficients.push_back(static_cast<int32_t>(draws[i][chain].coefficient));
      own[i] -= coefficients.back();
      CHECK(coefficients.back() >= 0 && own[i] >= 0) << "coefficients that sum to at most 2^20";
    }
    mixture.add_(ApplyChain(images, draws, chain).to(at::kInt).mul_(PerImage(coefficients, images)));
  }
  mixture.add_(images.to(at::kInt).mul_(PerImage(own, images)));
  return mixture.bitwise_right_shift_(kFractionBits).to(at::kByte);
}

std::unique_ptr<Augmentation> MakeAugMix(const AugMixSpec& spec) { return std::make_unique<AugMix>(spec); }

}  // namespace openset
