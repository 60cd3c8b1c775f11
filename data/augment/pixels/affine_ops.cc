#include "data/augment/pixels/affine_ops.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/logging.h"
#include "core/tensor/to_device.h"

namespace openset {
namespace {

// Pixel (x, y) comes from (a[0] x + a[1] y + a[2], a[3] x + a[4] y + a[5]), for points: pixel centres lie at halves.
using Matrix = std::array<double, 6>;

at::TensorOptions Like(const at::Tensor& images, at::ScalarType dtype) { return images.options().dtype(dtype); }

// Pixel (y, x) of each image, u8 [B, C, H', W']. y and x are i64 indices, broadcastable to [B, H', W'], which are
// clamped to the image.
at::Tensor PixelsAt(const at::Tensor& images, const at::Tensor& y, const at::Tensor& x) {
  const int64_t channels = images.size(1);
  const at::Tensor index = y.clamp(0, images.size(2) - 1) * images.size(3) + x.clamp(0, images.size(3) - 1);
  return images.flatten(2)
      .gather(2, index.flatten(1).unsqueeze(1).expand({-1, channels, -1}))
      .view({images.size(0), channels, index.size(1), index.size(2)});
}

// Whether 0 <= y < H and 0 <= x < W: bool [B, 1, H', W'].
at::Tensor Inside(const at::Tensor& images, const at::Tensor& y, const at::Tensor& x) {
  const at::Tensor rows = (y >= 0).logical_and_(y < images.size(2));
  const at::Tensor columns = (x >= 0).logical_and_(x < images.size(3));
  return rows.logical_and(columns).unsqueeze(1);
}

// As PixelsAt, but 0 outside the image.
at::Tensor PixelsOrZero(const at::Tensor& images, const at::Tensor& y, const at::Tensor& x) {
  return PixelsAt(images, y, x).mul_(Inside(images, y, x));
}

// Coefficient k of all matrices is row k: [6, B, 1, 1].
at::Tensor Coefficients(const std::vector<Matrix>& matrices, const at::Tensor& images) {
  std::vector<double> rows;
  rows.reserve(6 * matrices.size());
  for (size_t k = 0; k < 6; ++k) {
    for (const Matrix& a : matrices) rows.push_back(a[k]);
  }
  return ToDevice(at::tensor(rows, at::kDouble).view({6, -1, 1, 1}), images.device());
}

at::Tensor TransformNearest(const at::Tensor& images, std::vector<Matrix> matrices) {
  const auto fixed = [](double value) { return std::floor(value * 65536 + 0.5); };
  for (Matrix& a : matrices) {
    const double x_of_first_pixel = a[2] + a[0] * 0.5 + a[1] * 0.5;
    const double y_of_first_pixel = a[5] + a[3] * 0.5 + a[4] * 0.5;
    a = {fixed(a[0]), fixed(a[1]), fixed(x_of_first_pixel), fixed(a[3]), fixed(a[4]), fixed(y_of_first_pixel)};
  }
  const at::Tensor a = Coefficients(matrices, images).to(at::kLong);
  const at::Tensor x = at::arange(images.size(3), Like(images, at::kLong));
  const at::Tensor y = at::arange(images.size(2), Like(images, at::kLong)).unsqueeze(1);
  const at::Tensor source_x = (a[0] * x + a[1] * y).add_(a[2]).bitwise_right_shift_(16);
  const at::Tensor source_y = (a[3] * x + a[4] * y).add_(a[5]).bitwise_right_shift_(16);
  return PixelsOrZero(images, source_y, source_x);
}

at::Tensor TransformBilinear(const at::Tensor& images, const std::vector<Matrix>& matrices) {
  const at::Tensor a = Coefficients(matrices, images);
  const at::Tensor x = at::arange(images.size(3), Like(images, at::kDouble)).add_(0.5);
  const at::Tensor y = at::arange(images.size(2), Like(images, at::kDouble)).add_(0.5).unsqueeze(1);
  at::Tensor source_x = (a[0] * x + a[1] * y).add_(a[2]);
  at::Tensor source_y = (a[3] * x + a[4] * y).add_(a[5]);
  const at::Tensor inside = Inside(images, source_y, source_x);
  source_x.sub_(0.5);
  source_y.sub_(0.5);
  const at::Tensor left = source_x.floor();
  const at::Tensor top = source_y.floor();
  const at::Tensor left_index = left.to(at::kLong);
  const at::Tensor top_index = top.to(at::kLong);
  const auto between = [](const at::Tensor& from, const at::Tensor& to, const at::Tensor& part) {
    return (to - from).mul_(part).add_(from);
  };
  const auto row = [&](const at::Tensor& index) {
    return between(PixelsAt(images, index, left_index).to(at::kDouble),
                   PixelsAt(images, index, left_index + 1).to(at::kDouble), (source_x - left).unsqueeze(1));
  };
  return between(row(top_index), row(top_index + 1), (source_y - top).unsqueeze(1)).to(at::kByte).mul_(inside);
}

template <typename MakeMatrix>
at::Tensor Transform(const at::Tensor& images, absl::Span<const double> values, Interpolation interpolation,
                     MakeMatrix make_matrix) {
  CHECK_EQ(values.size(), images.size(0)) << "one value per image";
  std::vector<Matrix> matrices;
  matrices.reserve(values.size());
  for (const double value : values) matrices.push_back(make_matrix(value));
  switch (interpolation) {
    case Interpolation::kNearest:
      return TransformNearest(images, std::move(matrices));
    case Interpolation::kBilinear:
      return TransformBilinear(images, matrices);
  }
  LOG(FATAL) << "no interpolation " << static_cast<int>(interpolation);
}

// For each image and each of `extent` columns (rows) the one it comes from, -1 for none: i64 [B, extent]. Pillow adds
// up the places in double and rounds each down, so with a shift just below a half it may skip a pixel.
at::Tensor ShiftedPlaces(const at::Tensor& images, absl::Span<const double> shifts, int64_t extent) {
  CHECK_EQ(shifts.size(), images.size(0)) << "one value per image";
  std::vector<int64_t> places;
  places.reserve(shifts.size() * extent);
  for (const double shift : shifts) {
    double place = shift + 0.5;
    for (int64_t i = 0; i < extent; ++i, place += 1) places.push_back(place < 0 ? -1 : static_cast<int64_t>(place));
  }
  return ToDevice(at::tensor(places, at::kLong).view({-1, extent}), images.device());
}

// `value` rounded to 15 decimals as Python's round(value, 15) does: correctly.
double RoundTo15Decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.15f", value);
  return std::strtod(text, nullptr);
}

}  // namespace

at::Tensor Rotate(const at::Tensor& images, absl::Span<const double> degrees, Interpolation interpolation) {
  const double middle_x = static_cast<double>(images.size(3)) / 2;
  const double middle_y = static_cast<double>(images.size(2)) / 2;
  return Transform(images, degrees, interpolation, [&](double angle) -> Matrix {
    angle = std::fmod(angle, 360);
    if (angle < 0) angle += 360;
    const double radians = -(angle * (M_PI / 180));
    const double cosine = RoundTo15Decimals(std::cos(radians));
    const double sine = RoundTo15Decimals(std::sin(radians));
    return {cosine, sine,   cosine * -middle_x + sine * -middle_y + middle_x,
            -sine,  cosine, -sine * -middle_x + cosine * -middle_y + middle_y};
  });
}

at::Tensor ShearX(const at::Tensor& images, absl::Span<const double> shears, Interpolation interpolation) {
  return Transform(images, shears, interpolation, [](double shear) -> Matrix { return {1, shear, 0, 0, 1, 0}; });
}

at::Tensor ShearY(const at::Tensor& images, absl::Span<const double> shears, Interpolation interpolation) {
  return Transform(images, shears, interpolation, [](double shear) -> Matrix { return {1, 0, 0, shear, 1, 0}; });
}

at::Tensor TranslateX(const at::Tensor& images, absl::Span<const double> shifts, Interpolation interpolation) {
  if (interpolation == Interpolation::kBilinear) {
    return Transform(images, shifts, interpolation, [](double shift) -> Matrix { return {1, 0, shift, 0, 1, 0}; });
  }
  const at::Tensor rows = at::arange(images.size(2), Like(images, at::kLong)).view({1, -1, 1});
  return PixelsOrZero(images, rows, ShiftedPlaces(images, shifts, images.size(3)).unsqueeze(1));
}

at::Tensor TranslateY(const at::Tensor& images, absl::Span<const double> shifts, Interpolation interpolation) {
  if (interpolation == Interpolation::kBilinear) {
    return Transform(images, shifts, interpolation, [](double shift) -> Matrix { return {1, 0, 0, 0, 1, shift}; });
  }
  const at::Tensor columns = at::arange(images.size(3), Like(images, at::kLong)).view({1, 1, -1});
  return PixelsOrZero(images, ShiftedPlaces(images, shifts, images.size(2)).unsqueeze(2), columns);
}

}  // namespace openset
