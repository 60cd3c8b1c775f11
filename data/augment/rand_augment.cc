#include "data/augment/rand_augment.h"

#include <algorithm>
#include <cmath>

#include "core/logging.h"
#include "data/augment/apply_grouped.h"
#include "data/augment/cutout.h"
#include "data/augment/pixels/affine_ops.h"
#include "data/augment/pixels/enhance_ops.h"
#include "data/augment/pixels/histogram_ops.h"
#include "data/augment/pixels/point_ops.h"

namespace openset {
namespace {

constexpr int kOps = 16;

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

// The parameters of one operation for the images that get it, in the order of the batch.
struct Group {
  std::vector<double> values;
  std::vector<double> centre_x;
  std::vector<double> centre_y;
};

at::Tensor ApplyOp(RandAugmentOp op, const at::Tensor& images, const Group& group) {
  switch (op) {
    case RandAugmentOp::kAutoContrast:
      return AutoContrast(images);
    case RandAugmentOp::kEqualize:
      return Equalize(images);
    case RandAugmentOp::kInvert:
      return Invert(images);
    case RandAugmentOp::kRotate:
      return Rotate(images, group.values);
    case RandAugmentOp::kPosterize:
      return Posterize(images, group.values);
    case RandAugmentOp::kSolarize:
      return Solarize(images, group.values);
    case RandAugmentOp::kSolarizeAdd:
      return SolarizeAdd(images, group.values);
    case RandAugmentOp::kColor:
      return EnhanceColor(images, group.values);
    case RandAugmentOp::kContrast:
      return EnhanceContrast(images, group.values);
    case RandAugmentOp::kBrightness:
      return EnhanceBrightness(images, group.values);
    case RandAugmentOp::kSharpness:
      return EnhanceSharpness(images, group.values);
    case RandAugmentOp::kShearX:
      return ShearX(images, group.values);
    case RandAugmentOp::kShearY:
      return ShearY(images, group.values);
    case RandAugmentOp::kCutout:
      return Cutout(images, group.values, group.centre_x, group.centre_y);
    case RandAugmentOp::kTranslateX:
      return TranslateX(images, group.values);
    case RandAugmentOp::kTranslateY:
      return TranslateY(images, group.values);
  }
  LOG(FATAL) << "no operation " << static_cast<int>(op);
}

// Draw `first + i * stride` to image i.
at::Tensor ApplyOneDraw(const at::Tensor& images, const std::vector<RandAugmentDraw>& draws, int64_t first,
                        int64_t stride) {
  std::vector<int> op_of_image(images.size(0));
  for (size_t i = 0; i < op_of_image.size(); ++i) op_of_image[i] = static_cast<int>(draws[first + i * stride].op);
  return ApplyGrouped(images, op_of_image, kOps,
                      [&](int op, const at::Tensor& members, const std::vector<int64_t>& places) {
                        Group group;
                        for (const int64_t i : places) {
                          const RandAugmentDraw& draw = draws[first + i * stride];
                          group.values.push_back(draw.value);
                          group.centre_x.push_back(draw.centre_x);
                          group.centre_y.push_back(draw.centre_y);
                        }
                        return ApplyOp(static_cast<RandAugmentOp>(op), members, group);
                      });
}

class RandAugment : public Augmentation {
 public:
  explicit RandAugment(const RandAugmentSpec& spec) : spec_(spec) {}

  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const override {
    return ApplyRandAugment(images, DrawRandAugment(spec_, images.size(0), images.size(2), images.size(3), random));
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
  if (images.size(0) == 0) return images;
  CHECK_EQ(draws.size() % images.size(0), 0) << "as many draws for each image";
  const int64_t ops = static_cast<int64_t>(draws.size()) / images.size(0);
  at::Tensor result = images;
  for (int64_t i = 0; i < ops; ++i) result = ApplyOneDraw(result, draws, i, ops);
  return result;
}

std::unique_ptr<Augmentation> MakeRandAugment(const RandAugmentSpec& spec) {
  return std::make_unique<RandAugment>(spec);
}

}  // namespace openset
