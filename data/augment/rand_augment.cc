#include "data/augment/rand_augment.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/logging.h"
#include "data/augment/augmentation_members.h"
#include "data/augment/pixels/apply_pixel_ops.h"
#include "data/augment/pixels/make_pixel_op.h"

namespace openset {
namespace {

struct Range {
  double min;
  double max;
};

Range RangeOf(RandAugmentOp op) {
  switch (op) {
    case RandAugmentOp::kAutoContrast:
    case RandAugmentOp::kEqualize:
    case RandAugmentOp::kInvert:
      return {0, 0};
    case RandAugmentOp::kRotate:
      return {0, 30};
    case RandAugmentOp::kPosterize:
      return {0, 4};
    case RandAugmentOp::kSolarize:
      return {0, 256};
    case RandAugmentOp::kSolarizeAdd:
      return {0, 110};
    case RandAugmentOp::kColor:
    case RandAugmentOp::kContrast:
    case RandAugmentOp::kBrightness:
    case RandAugmentOp::kSharpness:
      return {0.1, 1.9};
    case RandAugmentOp::kShearX:
    case RandAugmentOp::kShearY:
      return {0, 0.3};
    case RandAugmentOp::kCutout:
      return {0, 40};
    case RandAugmentOp::kTranslateX:
    case RandAugmentOp::kTranslateY:
      return {0, 100};
  }
  LOG(FATAL) << "no operation " << static_cast<int>(op);
}

bool HasSign(RandAugmentOp op) {
  return op == RandAugmentOp::kRotate || op == RandAugmentOp::kShearX || op == RandAugmentOp::kShearY ||
         op == RandAugmentOp::kTranslateX || op == RandAugmentOp::kTranslateY;
}

PixelOp PixelOpOf(const RandAugmentDraw& draw, PixelSize size) {
  switch (draw.op) {
    case RandAugmentOp::kAutoContrast:
      return AutoContrast();
    case RandAugmentOp::kEqualize:
      return Equalize();
    case RandAugmentOp::kInvert:
      return Invert();
    case RandAugmentOp::kRotate:
      return Rotate(draw.value, size);
    case RandAugmentOp::kPosterize:
      return Posterize(draw.value);
    case RandAugmentOp::kSolarize:
      return Solarize(draw.value);
    case RandAugmentOp::kSolarizeAdd:
      return SolarizeAdd(draw.value);
    case RandAugmentOp::kColor:
      return EnhanceColor(draw.value);
    case RandAugmentOp::kContrast:
      return EnhanceContrast(draw.value);
    case RandAugmentOp::kBrightness:
      return EnhanceBrightness(draw.value);
    case RandAugmentOp::kSharpness:
      return EnhanceSharpness(draw.value);
    case RandAugmentOp::kShearX:
      return ShearX(draw.value);
    case RandAugmentOp::kShearY:
      return ShearY(draw.value);
    case RandAugmentOp::kCutout:
      return Cutout(draw.value, draw.centre_x, draw.centre_y, size);
    case RandAugmentOp::kTranslateX:
      return TranslateX(draw.value);
    case RandAugmentOp::kTranslateY:
      return TranslateY(draw.value);
  }
  LOG(FATAL) << "no operation " << static_cast<int>(draw.op);
}

// The draws as operations on images of `size`.
std::vector<PixelOp> OpsOf(const std::vector<RandAugmentDraw>& draws, PixelSize size) {
  std::vector<PixelOp> ops;
  ops.reserve(draws.size());
  for (const RandAugmentDraw& draw : draws) ops.push_back(PixelOpOf(draw, size));
  return ops;
}

class RandAugment : public Augmentation {
 public:
  explicit RandAugment(const RandAugmentSpec& spec) : spec_(spec) {}

  void Draw(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const override {
    staging->Add(PackPixelOps(OpsOf(DrawRandAugment(spec_, count, size.height, size.width, random), size), count));
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    return ApplyPackedPixelOps(images, staging->Next());
  }

 private:
  const RandAugmentSpec spec_;
};

}  // namespace

const std::vector<RandAugmentOp>& RandAugmentOps(RandAugmentSpec::OpList list) {
  using Op = RandAugmentOp;
  static const auto& all = *new std::vector<Op>{Op::kAutoContrast, Op::kEqualize,   Op::kInvert,      Op::kRotate,
                                                Op::kPosterize,    Op::kSolarize,   Op::kSolarizeAdd, Op::kColor,
                                                Op::kContrast,     Op::kBrightness, Op::kSharpness,   Op::kShearX,
                                                Op::kShearY,       Op::kCutout,     Op::kTranslateX,  Op::kTranslateY};
  static const auto& digits = *new std::vector<Op>{
      Op::kAutoContrast, Op::kEqualize,   Op::kInvert,    Op::kPosterize, Op::kSolarize, Op::kSolarizeAdd, Op::kColor,
      Op::kContrast,     Op::kBrightness, Op::kSharpness, Op::kShearX,    Op::kShearY,   Op::kCutout};
  switch (list) {
    case RandAugmentSpec::ALL_16:
      return all;
    case RandAugmentSpec::DIGITS_13:
      return digits;
    case RandAugmentSpec::OP_LIST_UNSPECIFIED:
      break;
  }
  LOG(FATAL) << "no operation list " << static_cast<int>(list);
}

double RandAugmentValue(RandAugmentOp op, double magnitude) {
  const Range range = RangeOf(op);
  const double value = magnitude / 30 * (range.max - range.min) + range.min;
  return op == RandAugmentOp::kPosterize ? std::max(1.0, std::floor(value)) : value;
}

std::vector<RandAugmentDraw> DrawRandAugment(const RandAugmentSpec& spec, int64_t images, int64_t height, int64_t width,
                                             RandomStream* random) {
  const std::vector<RandAugmentOp>& ops = RandAugmentOps(spec.op_list());
  std::vector<RandAugmentDraw> draws(images * spec.ops());
  for (RandAugmentDraw& draw : draws) {
    draw.op = ops[random->Below(ops.size())];
    draw.value = RandAugmentValue(draw.op, spec.magnitude());
    if (HasSign(draw.op) && random->Below(2) == 1) draw.value = -draw.value;
    if (draw.op == RandAugmentOp::kCutout) {
      draw.centre_x = random->Uniform(width, 1);
      draw.centre_y = random->Uniform(height, 1);
    }
  }
  return draws;
}

at::Tensor ApplyRandAugment(const at::Tensor& images, const std::vector<RandAugmentDraw>& draws) {
  return ApplyPixelOps(images, OpsOf(draws, {images.size(2), images.size(3)}));
}

std::unique_ptr<Augmentation> Make(const RandAugmentSpec& spec, int /*input_size*/) {
  return std::make_unique<RandAugment>(spec);
}

}  // namespace openset
