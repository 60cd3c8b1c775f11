// The operations of RandAugment and AugMix, each on one image; apply_pixel_ops.h applies them. p is a value of the
// image. Unless stated otherwise, each gives bit for bit what Pillow computes on 8-bit images.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_MAKE_PIXEL_OP_H_
#define OPENSET_DATA_AUGMENT_PIXELS_MAKE_PIXEL_OP_H_

#include "data/augment/pixels/pixel_op.h"
#include "data/augment/pixels/pixel_size.h"

namespace openset {

// Precondition of all operations that take an image's size: no side is longer than 16,000.

// Maps the lowest value of each channel to 0 and the highest to 255, linearly, rounded down. A constant channel keeps
// its values.
PixelOp AutoContrast();

// Spreads the values of each channel evenly over 0 to 255: with n(p) the number of pixels below p, n the number of
// pixels below the highest value, and step = floor(n / 255), p -> min(floor((floor(step / 2) + n(p)) / step), 255). If
// step is 0 (a constant channel, an image of few pixels), the channel keeps its values.
PixelOp Equalize();

// 255 - p.
PixelOp Invert();

// Keeps the `bits` highest bits of p (rounded down) and clears the others. Precondition: 1 <= bits <= 8.
PixelOp Posterize(double bits);

// p if p < threshold, else 255 - p: 0 inverts the image, 256 leaves it.
PixelOp Solarize(double threshold);

// min(floor(p + addition), 255), then Solarize(128). Not in Pillow: the operation of the RandAugment codes.
// Precondition: addition >= 0.
PixelOp SolarizeAdd(double addition);

// The next four blend p with a degenerate version d of the image: trunc(clamp(d + factor * (p - d), 0, 255)) in
// float32. So a factor of 0 gives d, 1 gives the image, and more than 1 exaggerates.

// d is the grey image, (19595 R + 38470 G + 7471 B + 32768) >> 16 in each channel. A grey image keeps its values.
PixelOp EnhanceColor(double factor);
// d is the mean of the grey image, rounded (halves up), everywhere.
PixelOp EnhanceContrast(double factor);
// d is black.
PixelOp EnhanceBrightness(double factor);
// d is the image smoothed by the 3x3 kernel of ones with 5 in the middle, over 13, rounded. The outermost pixels, and
// thus images of fewer than 3 rows or columns, keep their values.
PixelOp EnhanceSharpness(double factor);

enum class Interpolation {
  kNearest,   // Pillow's default and RandAugment's: the pixel at the position, computed in fixed point (16.16)
  kBilinear,  // AugMix's: between the four pixels around the position, in double, rounded down
};

// The next five take each output pixel from a position in the input; pixels from outside of it are 0.

// Rotates counterclockwise around the centre of an image of this size.
PixelOp Rotate(double degrees, PixelSize size, Interpolation interpolation = Interpolation::kNearest);
// Takes pixel (x, y) from (x + shear * y, y): positive shears move the lower rows to the left.
// Precondition: W + |shear| * H < 32,768.
PixelOp ShearX(double shear, Interpolation interpolation = Interpolation::kNearest);
// Takes pixel (x, y) from (x, y + shear * x): positive shears move the right columns up.
// Precondition: H + |shear| * W < 32,768.
PixelOp ShearY(double shear, Interpolation interpolation = Interpolation::kNearest);
// Takes pixel (x, y) from (x + shift, y): positive shifts, in pixels, move the image to the left.
PixelOp TranslateX(double shift, Interpolation interpolation = Interpolation::kNearest);
// Takes pixel (x, y) from (x, y + shift): positive shifts, in pixels, move the image up.
PixelOp TranslateY(double shift, Interpolation interpolation = Interpolation::kNearest);

// A filled square, as in the RandAugment codes: fills with the colour (125, 123, 114), or its grey 123, the columns
// trunc(x0) to trunc(x1) and the rows trunc(y0) to trunc(y1), both ends included, with
//   x0 = trunc(max(0, centre_x - side / 2)),  x1 = min(W, x0 + side),  and y0, y1 likewise with H.
// So the square is one pixel wider than `side`, keeps its width at the left and top edges, and is cut off at the right
// and bottom ones. Bit for bit Pillow's ImageDraw.rectangle with these corners.
// Preconditions: side >= 0, centre_x <= W, centre_y <= H.
PixelOp Cutout(double side, double centre_x, double centre_y, PixelSize size);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_MAKE_PIXEL_OP_H_
