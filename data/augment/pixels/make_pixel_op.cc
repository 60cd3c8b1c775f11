#include "data/augment/pixels/make_pixel_op.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/logging.h"

namespace openset {
namespace {

PixelOp WithValue(PixelOpKind kind, double value) {
  PixelOp op;
  op.kind = kind;
  op.value[0] = value;
  return op;
}

// Pixel (x, y) comes from (a[0] x + a[1] y + a[2], a[3] x + a[4] y + a[5]). These are coordinates of points: the centre
// of the first pixel is (0.5, 0.5).
struct Matrix {
  double a[6];
};

PixelOp Affine(const Matrix& matrix, Interpolation interpolation) {
  const double* const a = matrix.a;
  switch (interpolation) {
    case Interpolation::kNearest: {
      const auto fixed = [](double value) { return std::floor(value * 65536 + 0.5); };
      const double x_of_first_pixel = a[2] + a[0] * 0.5 + a[1] * 0.5;
      const double y_of_first_pixel = a[5] + a[3] * 0.5 + a[4] * 0.5;
      return {PixelOpKind::kAffineNearest,
              {fixed(a[0]), fixed(a[1]), fixed(x_of_first_pixel), fixed(a[3]), fixed(a[4]), fixed(y_of_first_pixel)}};
    }
    case Interpolation::kBilinear:
      return {PixelOpKind::kAffineBilinear, {a[0], a[1], a[2], a[3], a[4], a[5]}};
  }
  LOG(FATAL) << "no interpolation " << static_cast<int>(interpolation);
}

// `value` rounded to 15 decimals as Python's round(value, 15) does: correctly.
double RoundTo15Decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.15f", value);
  return std::strtod(text, nullptr);
}

}  // namespace

PixelOp AutoContrast() { return WithValue(PixelOpKind::kAutoContrast, 0); }

PixelOp Equalize() { return WithValue(PixelOpKind::kEqualize, 0); }

PixelOp Invert() { return WithValue(PixelOpKind::kInvert, 0); }

PixelOp Posterize(double bits) {
  CHECK(bits >= 1 && bits <= 8) << bits << " bits";
  return WithValue(PixelOpKind::kPosterize, 256 - std::exp2(8 - std::floor(bits)));
}

PixelOp Solarize(double threshold) { return WithValue(PixelOpKind::kSolarize, threshold); }

PixelOp SolarizeAdd(double addition) { return WithValue(PixelOpKind::kSolarizeAdd, addition); }

PixelOp EnhanceColor(double factor) { return WithValue(PixelOpKind::kColor, factor); }

PixelOp EnhanceContrast(double factor) { return WithValue(PixelOpKind::kContrast, factor); }

PixelOp EnhanceBrightness(double factor) { return WithValue(PixelOpKind::kBrightness, factor); }

PixelOp EnhanceSharpness(double factor) { return WithValue(PixelOpKind::kSharpness, factor); }

PixelOp Rotate(double degrees, PixelSize size, Interpolation interpolation) {
  const double middle_x = static_cast<double>(size.width) / 2;
  const double middle_y = static_cast<double>(size.height) / 2;
  double angle = std::fmod(degrees, 360);
  if (angle < 0) angle += 360;
  const double radians = -(angle * (M_PI / 180));
  const double cosine = RoundTo15Decimals(std::cos(radians));
  const double sine = RoundTo15Decimals(std::sin(radians));
  return Affine({{cosine, sine, cosine * -middle_x + sine * -middle_y + middle_x, -sine, cosine,
                  -sine * -middle_x + cosine * -middle_y + middle_y}},
                interpolation);
}

PixelOp ShearX(double shear, Interpolation interpolation) { return Affine({{1, shear, 0, 0, 1, 0}}, interpolation); }

PixelOp ShearY(double shear, Interpolation interpolation) { return Affine({{1, 0, 0, shear, 1, 0}}, interpolation); }

PixelOp TranslateX(double shift, Interpolation interpolation) {
  if (interpolation == Interpolation::kBilinear) return Affine({{1, 0, shift, 0, 1, 0}}, interpolation);
  return WithValue(PixelOpKind::kTranslateX, shift);
}

PixelOp TranslateY(double shift, Interpolation interpolation) {
  if (interpolation == Interpolation::kBilinear) return Affine({{1, 0, 0, 0, 1, shift}}, interpolation);
  return WithValue(PixelOpKind::kTranslateY, shift);
}

PixelOp Cutout(double side, double centre_x, double centre_y, PixelSize size) {
  const double x0 = std::trunc(std::max(0.0, centre_x - side / 2));
  const double y0 = std::trunc(std::max(0.0, centre_y - side / 2));
  return {PixelOpKind::kRectangle,
          {x0, std::trunc(std::min<double>(size.width, x0 + side)), y0,
           std::trunc(std::min<double>(size.height, y0 + side))}};
}

}  // namespace openset
