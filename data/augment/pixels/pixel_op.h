// The operations of RandAugment and AugMix on 8-bit images, each a function of one output pixel, bit for bit as in
// Pillow (ImageOps, ImageEnhance, Image.rotate, Image.transform, ImageDraw.rectangle).
//
// Plain C++ without LibTorch, so that the loop on the CPU (apply_pixel_ops.cc) and the kernel on GPUs
// (pixel_ops_kernel.cu) are the same code. Compile without fused multiply-adds, which round differently.
//
// An image is u8 [C, H, W] with C of 1 or 3. make_pixel_op.h says what each operation computes.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_PIXEL_OP_H_
#define OPENSET_DATA_AUGMENT_PIXELS_PIXEL_OP_H_

#include <cstdint>

#ifdef __CUDACC__
#define OPENSET_HOST_DEVICE __host__ __device__
#else
#define OPENSET_HOST_DEVICE
#endif

namespace openset {

enum class PixelOpKind : int32_t {
  kNone,
  // Map each level of a channel to another one.
  kAutoContrast,
  kEqualize,
  kInvert,
  kPosterize,    // mask
  kSolarize,     // lowest level that is inverted
  kSolarizeAdd,  // addition
  kContrast,     // factor
  kBrightness,   // factor
  // Need other values of the image.
  kColor,           // factor
  kSharpness,       // factor
  kAffineNearest,   // matrix, in 16.16 fixed point
  kAffineBilinear,  // matrix
  kTranslateX,      // shift
  kTranslateY,      // shift
  kRectangle,       // first and last column, first and last row
};

// Trivially copyable; goes to GPUs as it is.
struct PixelOp {
  PixelOpKind kind = PixelOpKind::kNone;
  double value[6] = {};
};

inline constexpr int kPixelLevels = 256;
inline constexpr int kMostPixelChannels = 3;

struct PixelImage {
  const uint8_t* pixels;
  int channels, height, width;

  OPENSET_HOST_DEVICE uint8_t At(int c, int y, int x) const { return pixels[(c * height + y) * width + x]; }
  OPENSET_HOST_DEVICE int64_t size() const { return int64_t{height} * width; }
};

// What kAutoContrast and kEqualize need to know about a channel.
struct ChannelStatistics {
  // First the number of pixels of each level, at level + 1; after Accumulate() the number of pixels below each level.
  int below[kPixelLevels + 1];
  int lowest, highest;  // levels that occur, after Accumulate()

  OPENSET_HOST_DEVICE void Accumulate() {
    lowest = kPixelLevels;
    for (int p = 0; p < kPixelLevels; ++p) {
      if (below[p + 1] > 0) {
        if (lowest == kPixelLevels) lowest = p;
        highest = p;
      }
      below[p + 1] += below[p];
    }
  }
};

// What an operation needs to know about the complete image.
struct PixelStatistics {
  ChannelStatistics channel[kMostPixelChannels];
  unsigned long long grey_sum;  // of Grey() over all pixels, for kContrast; of a type that CUDA's atomicAdd() supports
};

OPENSET_HOST_DEVICE inline bool NeedsHistogram(PixelOpKind kind) {
  return kind == PixelOpKind::kAutoContrast || kind == PixelOpKind::kEqualize;
}

// Whether the operation maps levels. If so, LevelAfter() gives a table of them; else PixelAfter() gives each pixel.
OPENSET_HOST_DEVICE inline bool MapsLevels(PixelOpKind kind) {
  return kind >= PixelOpKind::kAutoContrast && kind <= PixelOpKind::kBrightness;
}

OPENSET_HOST_DEVICE inline int Grey(const PixelImage& image, int y, int x) {
  if (image.channels == 1) return image.At(0, y, x);
  return (image.At(0, y, x) * 19595 + image.At(1, y, x) * 38470 + image.At(2, y, x) * 7471 + 32768) >> 16;
}

// trunc(clamp(d + factor * (p - d), 0, 255)) in float32.
OPENSET_HOST_DEVICE inline uint8_t Blend(int degenerate, int p, double factor) {
  const auto d = static_cast<float>(degenerate);
  const float blended = (static_cast<float>(p) - d) * static_cast<float>(factor) + d;
  return static_cast<uint8_t>(blended < 0 ? 0.0F : blended > 255 ? 255.0F : blended);
}

OPENSET_HOST_DEVICE inline uint8_t StretchedLevel(const ChannelStatistics& channel, int p) {
  const int lowest = channel.lowest;
  if (channel.highest == lowest) return static_cast<uint8_t>(p);
  const double scale = 255.0 / (channel.highest - lowest);
  const double stretched = p * scale + -lowest * scale;
  return static_cast<uint8_t>(stretched < 0 ? 0.0 : stretched > 255 ? 255.0 : stretched);
}

OPENSET_HOST_DEVICE inline uint8_t EqualizedLevel(const ChannelStatistics& channel, int p) {
  const int step = channel.below[channel.highest] / 255;
  if (step == 0) return static_cast<uint8_t>(p);
  const int spread = (channel.below[p] + step / 2) / step;
  return static_cast<uint8_t>(spread < 255 ? spread : 255);
}

// The new value of level p of channel c. `statistics` are of `image`. Precondition: MapsLevels(op.kind).
OPENSET_HOST_DEVICE inline uint8_t LevelAfter(const PixelOp& op, const PixelStatistics& statistics,
                                              const PixelImage& image, int c, int p) {
  switch (op.kind) {
    case PixelOpKind::kAutoContrast:
      return StretchedLevel(statistics.channel[c], p);
    case PixelOpKind::kEqualize:
      return EqualizedLevel(statistics.channel[c], p);
    case PixelOpKind::kInvert:
      return static_cast<uint8_t>(255 - p);
    case PixelOpKind::kPosterize:
      return static_cast<uint8_t>(p & static_cast<int>(op.value[0]));
    case PixelOpKind::kSolarize:
      return static_cast<uint8_t>(p >= op.value[0] ? 255 - p : p);
    case PixelOpKind::kSolarizeAdd: {
      // In double as in the released code: p + 32.999999999999996 may be p + 33.
      const double sum = p + op.value[0];
      const int level = sum < 255 ? static_cast<int>(sum) : 255;
      return static_cast<uint8_t>(level >= 128 ? 255 - level : level);
    }
    case PixelOpKind::kContrast: {
      const auto pixels = static_cast<unsigned long long>(image.size());
      const unsigned long long mean = (statistics.grey_sum * 2 + pixels) / (2 * pixels);
      return Blend(static_cast<int>(mean), p, op.value[0]);
    }
    case PixelOpKind::kBrightness:
      return Blend(0, p, op.value[0]);
    default:
      return static_cast<uint8_t>(p);
  }
}

// 3x3 kernel of ones with 5 in the middle, over 13, rounded. The outermost pixels keep their values. Thirteenths are
// never halves.
OPENSET_HOST_DEVICE inline int SmoothAt(const PixelImage& image, int c, int y, int x) {
  const int middle = image.At(c, y, x);
  if (y == 0 || x == 0 || y == image.height - 1 || x == image.width - 1) return middle;
  int sum = 4 * middle;
  for (int dy = -1; dy <= 1; ++dy) {
    sum += image.At(c, y + dy, x - 1) + image.At(c, y + dy, x) + image.At(c, y + dy, x + 1);
  }
  return (2 * sum + 13) / 26;
}

OPENSET_HOST_DEVICE inline int Clamped(int value, int size) { return value < 0 ? 0 : value < size ? value : size - 1; }

// The column (row), of `size`, that column (row) i comes from; -1 if none. Pillow adds up the positions in double and
// rounds each down, so it may skip a pixel if the shift is just below a half.
OPENSET_HOST_DEVICE inline int ShiftedFrom(double shift, int i, int size) {
  double position = shift + 0.5;
  for (; i > 0; --i) position += 1;
  return position >= 0 && position < size ? static_cast<int>(position) : -1;
}

// Value of channel c of the rectangle's colour: (125, 123, 114), or its grey 123.
OPENSET_HOST_DEVICE inline uint8_t RectangleColour(int channels, int c) {
  if (channels == 1 || c == 1) return 123;
  return c == 0 ? 125 : 114;
}

// Copies pixel (from_y, from_x) of each channel to result[c * image.size()]; 0 if it is outside of the image.
OPENSET_HOST_DEVICE inline void TakeFrom(const PixelImage& image, int64_t from_y, int64_t from_x, uint8_t* result) {
  const bool inside = from_x >= 0 && from_y >= 0 && from_x < image.width && from_y < image.height;
  for (int c = 0; c < image.channels; ++c, result += image.size()) {
    *result = inside ? image.At(c, static_cast<int>(from_y), static_cast<int>(from_x)) : 0;
  }
}

// As TakeFrom(), but between the four pixels around the point (from_y, from_x), rounded down.
OPENSET_HOST_DEVICE inline void TakeBetween(const PixelImage& image, double from_y, double from_x, uint8_t* result) {
  if (!(from_x >= 0 && from_y >= 0 && from_x < image.width && from_y < image.height)) {
    return TakeFrom(image, -1, -1, result);
  }
  // Both are above -1, where truncation after adding 1 is floor().
  const int left = static_cast<int>(from_x - 0.5 + 1) - 1;
  const int top = static_cast<int>(from_y - 0.5 + 1) - 1;
  const double right_part = from_x - 0.5 - left;
  const double bottom_part = from_y - 0.5 - top;
  const int left_x = Clamped(left, image.width);
  const int right_x = Clamped(left + 1, image.width);
  const int top_y = Clamped(top, image.height);
  const int bottom_y = Clamped(top + 1, image.height);
  for (int c = 0; c < image.channels; ++c, result += image.size()) {
    const double top_left = image.At(c, top_y, left_x);
    const double bottom_left = image.At(c, bottom_y, left_x);
    const double upper = (image.At(c, top_y, right_x) - top_left) * right_part + top_left;
    const double lower = (image.At(c, bottom_y, right_x) - bottom_left) * right_part + bottom_left;
    *result = static_cast<uint8_t>((lower - upper) * bottom_part + upper);
  }
}

// Pixel (y, x) of the result, channel c at result[c * image.size()]. Precondition: not MapsLevels(kind). `kind` is
// op.kind: if it is a constant, the compiler keeps one case. `shifted_from` is null, or has ShiftedFrom() of each
// column (kTranslateX) or row (kTranslateY).
OPENSET_HOST_DEVICE inline void PixelAfter(PixelOpKind kind, const PixelOp& op, const int* shifted_from,
                                           const PixelImage& image, int y, int x, uint8_t* result) {
  const double* const a = op.value;
  switch (kind) {
    case PixelOpKind::kColor: {
      const int grey = Grey(image, y, x);
      for (int c = 0; c < image.channels; ++c, result += image.size()) *result = Blend(grey, image.At(c, y, x), a[0]);
      break;
    }
    case PixelOpKind::kSharpness:
      for (int c = 0; c < image.channels; ++c, result += image.size()) {
        *result = Blend(SmoothAt(image, c, y, x), image.At(c, y, x), a[0]);
      }
      break;
    case PixelOpKind::kAffineNearest:
      TakeFrom(
          image, (static_cast<int64_t>(a[3]) * x + static_cast<int64_t>(a[4]) * y + static_cast<int64_t>(a[5])) >> 16,
          (static_cast<int64_t>(a[0]) * x + static_cast<int64_t>(a[1]) * y + static_cast<int64_t>(a[2])) >> 16, result);
      break;
    case PixelOpKind::kAffineBilinear:
      TakeBetween(image, a[3] * (x + 0.5) + a[4] * (y + 0.5) + a[5], a[0] * (x + 0.5) + a[1] * (y + 0.5) + a[2],
                  result);
      break;
    case PixelOpKind::kTranslateX:
      TakeFrom(image, y, shifted_from != nullptr ? shifted_from[x] : ShiftedFrom(a[0], x, image.width), result);
      break;
    case PixelOpKind::kTranslateY:
      TakeFrom(image, shifted_from != nullptr ? shifted_from[y] : ShiftedFrom(a[0], y, image.height), x, result);
      break;
    case PixelOpKind::kRectangle: {
      const bool inside = x >= a[0] && x <= a[1] && y >= a[2] && y <= a[3];
      for (int c = 0; c < image.channels; ++c, result += image.size()) {
        *result = inside ? RectangleColour(image.channels, c) : image.At(c, y, x);
      }
      break;
    }
    default:
      TakeFrom(image, y, x, result);
  }
}

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_PIXEL_OP_H_
