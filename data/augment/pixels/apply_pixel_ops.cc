#include "data/augment/pixels/apply_pixel_ops.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/logging.h"
#include "core/tensor/torch_library.h"
#include "core/tensor/transfer.h"

namespace openset {
namespace {

using Kind = PixelOpKind;

PixelStatistics StatisticsFor(Kind kind, const PixelImage& image) {
  PixelStatistics statistics = {};
  if (NeedsHistogram(kind)) {
    for (int c = 0; c < image.channels; ++c) {
      const uint8_t* const pixels = image.pixels + c * image.size();
      ChannelStatistics& channel = statistics.channel[c];
      for (int64_t i = 0; i < image.size(); ++i) ++channel.below[pixels[i] + 1];
      channel.Accumulate();
    }
  }
  if (kind == Kind::kContrast) {
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) statistics.grey_sum += Grey(image, y, x);
    }
  }
  return statistics;
}

void MapLevels(const PixelOp& op, const PixelImage& image, uint8_t* result) {
  const PixelStatistics statistics = StatisticsFor(op.kind, image);
  for (int c = 0; c < image.channels; ++c) {
    uint8_t table[kPixelLevels];
    for (int p = 0; p < kPixelLevels; ++p) table[p] = LevelAfter(op, statistics, image, c, p);
    const int64_t first = c * image.size();
    for (int64_t i = first; i < first + image.size(); ++i) result[i] = table[image.pixels[i]];
  }
}

// The kind is a constant, so that the loop has no switch.
template <Kind kind>
void EachPixel(const PixelOp& op, const PixelImage& image, uint8_t* result) {
  std::vector<int> shifted_from;
  if (kind == Kind::kTranslateX || kind == Kind::kTranslateY) {
    const int size = kind == Kind::kTranslateX ? image.width : image.height;
    for (int i = 0; i < size; ++i) shifted_from.push_back(ShiftedFrom(op.value[0], i, size));
  }
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) PixelAfter(kind, op, shifted_from.data(), image, y, x, result++);
  }
}

void ApplyOp(const PixelOp& op, const PixelImage& image, uint8_t* result) {
  if (MapsLevels(op.kind)) return MapLevels(op, image, result);
  switch (op.kind) {
    case Kind::kColor:
      return EachPixel<Kind::kColor>(op, image, result);
    case Kind::kSharpness:
      return EachPixel<Kind::kSharpness>(op, image, result);
    case Kind::kAffineNearest:
      return EachPixel<Kind::kAffineNearest>(op, image, result);
    case Kind::kAffineBilinear:
      return EachPixel<Kind::kAffineBilinear>(op, image, result);
    case Kind::kTranslateX:
      return EachPixel<Kind::kTranslateX>(op, image, result);
    case Kind::kTranslateY:
      return EachPixel<Kind::kTranslateY>(op, image, result);
    case Kind::kRectangle:
      return EachPixel<Kind::kRectangle>(op, image, result);
    default:
      LOG(FATAL) << "no operation " << static_cast<int>(op.kind);
  }
}

// The operations of one image, one after the other. `spare` has room for an image.
void ApplyOps(absl::Span<const PixelOp> ops, PixelImage image, uint8_t* result, uint8_t* spare) {
  const int64_t bytes = image.channels * image.size();
  // An operation reads one buffer and writes another one; the last of them writes `result`.
  int64_t left = std::count_if(ops.begin(), ops.end(), [](const PixelOp& op) { return op.kind != Kind::kNone; });
  if (left == 0) std::memcpy(result, image.pixels, bytes);
  for (const PixelOp& op : ops) {
    if (op.kind == Kind::kNone) continue;
    uint8_t* const target = left-- % 2 == 1 ? result : spare;
    ApplyOp(op, image, target);
    image.pixels = target;
  }
}

// `ops` is u8 [B, n * sizeof(PixelOp)].
at::Tensor ApplyOnCpu(const at::Tensor& images, const at::Tensor& ops) {
  const at::Tensor contiguous = images.contiguous();
  at::Tensor result = at::empty_like(contiguous);
  const int64_t image_bytes = images.size(1) * images.size(2) * images.size(3);
  const int64_t ops_bytes = ops.size(1);
  const auto* const pixels = contiguous.const_data_ptr<uint8_t>();
  auto* const out = result.mutable_data_ptr<uint8_t>();
  const auto spare = std::make_unique<uint8_t[]>(image_bytes);
  std::vector<PixelOp> of_image(ops_bytes / sizeof(PixelOp));
  for (int64_t i = 0; i < images.size(0); ++i) {
    if (ops_bytes > 0) std::memcpy(of_image.data(), ops.const_data_ptr<uint8_t>() + i * ops_bytes, ops_bytes);
    const PixelImage image = {pixels + i * image_bytes, static_cast<int>(images.size(1)),
                              static_cast<int>(images.size(2)), static_cast<int>(images.size(3))};
    ApplyOps(of_image, image, out + i * image_bytes, spare.get());
  }
  return result;
}

// TORCH_LIBRARY() needs a symbol that LibTorch 2.12 names in another way (third_party/README.md).
const auto& registered = *new c10::RegisterOperators(c10::RegisterOperators().op(
    "openset::apply_pixel_ops(Tensor images, Tensor ops) -> Tensor",
    c10::RegisterOperators::options().kernel<decltype(ApplyOnCpu), &ApplyOnCpu>(c10::DispatchKey::CPU)));

}  // namespace

at::Tensor ApplyPixelOps(const at::Tensor& images, absl::Span<const PixelOp> ops) {
  return ApplyPackedPixelOps(images, ToDevice(PackPixelOps(ops, images.size(0)), images.device()));
}

at::Tensor PackPixelOps(absl::Span<const PixelOp> ops, int64_t images) {
  if (images == 0) return at::empty({0, 0}, at::kByte);
  CHECK_EQ(ops.size() % images, 0) << "as many operations for each image";
  const auto bytes = static_cast<int64_t>(ops.size() * sizeof(PixelOp));
  at::Tensor packed = at::empty({images, bytes / images}, at::kByte);
  if (bytes > 0) std::memcpy(packed.mutable_data_ptr(), ops.data(), bytes);
  return packed;
}

at::Tensor ApplyPackedPixelOps(const at::Tensor& images, const at::Tensor& ops) {
  if (images.size(0) == 0) return images;
  CHECK(images.size(1) == 1 || images.size(1) == 3) << images.size(1) << " channels";
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("openset::apply_pixel_ops", "")
                                    .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  return operation.call(images, ops);
}

}  // namespace openset
