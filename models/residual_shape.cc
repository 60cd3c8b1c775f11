#include "models/residual_shape.h"

namespace openset {

ResidualShape ResidualShapeOf(const ResnetCifarSpec& spec) {
  const bool is_wide = spec.variant() == ResnetCifarSpec::RESNET18;
  ResidualShape shape;
  shape.blocks = is_wide ? std::vector<int>{2, 2, 2, 2} : std::vector<int>{3, 3, 3};
  shape.width = spec.width() > 0 ? spec.width() : is_wide ? 64 : 16;
  return shape;
}

ResidualShape ResidualShapeOf(const ResnetImagenetSpec& spec) {
  ResidualShape shape;
  shape.width = spec.width();
  shape.large_images = true;
  shape.bottlenecks = true;
  switch (spec.variant()) {
    case ResnetImagenetSpec::RESNET18:
      shape.blocks = {2, 2, 2, 2};
      shape.bottlenecks = false;
      break;
    case ResnetImagenetSpec::RESNET34:
      shape.blocks = {3, 4, 6, 3};
      shape.bottlenecks = false;
      break;
    case ResnetImagenetSpec::RESNET101:
      shape.blocks = {3, 4, 23, 3};
      break;
    case ResnetImagenetSpec::RESNET152:
      shape.blocks = {3, 8, 36, 3};
      break;
    case ResnetImagenetSpec::RESNET50:
    case ResnetImagenetSpec::VARIANT_UNSPECIFIED:
      shape.blocks = {3, 4, 6, 3};
      break;
  }
  return shape;
}

}  // namespace openset
