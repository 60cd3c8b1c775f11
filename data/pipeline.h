// Augments and normalises images for a model; bytes become channels by a table.
#ifndef OPENSET_DATA_PIPELINE_H_
#define OPENSET_DATA_PIPELINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/random.h"
#include "core/tensor/torch.h"
#include "core/tensor/transfer.h"
#include "data/augment/augmentation.h"
#include "data/augment/pixels/pixel_size.h"
#include "data/augment/resize.h"

namespace openset {

// ---- Converts the bytes of three planes to values of interleaved channels, by a table.

// u8 [3, pixels] -> f32 [pixels, 3]: values[3 * p + c] = table[256 * c + planes[c * pixels + p]]. Converts eight pixels
// at a time if the processor has AVX2.
void LookUpColours(const uint8_t* planes, int64_t pixels, const float* table, float* values);

// ---- Augments and normalises images for a model.

// The images that a model accepts. The fields mean the same as in InputSpec.
struct InputFormat {
  int size = 32;
  int channels = 3;
  // For values in [0, 1]: no number (mean 0, std 1), one for all channels, or one for each.
  std::vector<double> mean;
  std::vector<double> std;
  at::MemoryFormat layout = at::MemoryFormat::ChannelsLast;
  // The samples are feature vectors (FeatureFile in data/catalog.proto): u8 [B, 1, 1, 4 D] becomes f32 [B, 1, 1, D],
  // whatever the fields above say. `size` is D.
  bool is_features = false;
};

// Applies the augmentations in order, after a Resize to the input size if none of them changes sizes. Then computes
// (value / 255 - mean) / std in f32. Evaluation uses a pipeline without augmentations, which draws no random numbers.
//
// The first part of the pipeline ends with the first augmentation that makes all images the input's size (or with the
// Resize). Images of different sizes pass the first part one by one, and the rest together.
class Pipeline {
 public:
  // Errors: kInvalidArgument: "mean: ..." or "std: ..." if the format does not allow this number of values;
  // "augmentation...: ..." if there are any for feature vectors, if the last augmentation that changes sizes leaves
  // images of different sizes, or if an augmentation follows one that returns fractions.
  static absl::StatusOr<Pipeline> Make(std::vector<std::unique_ptr<const Augmentation>> augmentations,
                                       const InputFormat& format, at::Device device);

  // u8 [B, C, H, W] on the device -> f32 [B, channels, size, size] in the format's layout. Grey images (C = 1) are
  // repeated for each channel before the augmentations; otherwise C must be `channels`. `random` may be null if no
  // augmentation draws from it.
  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const;

  // Errors: kInvalidArgument if the first part would make more than 2^28 pixels of an image of `size` (four times what
  // DecodeImage() accepts): by resizing its shorter side, because it is very long and thin, or by padding it.
  absl::Status CheckSize(PixelSize size) const;

  // Channels, height and width of the results.
  at::IntArrayRef image_sizes() const { return image_sizes_; }

  // The first part: u8 [B, C, H, W] -> u8 [B, C or channels, size, size]. Precondition: CheckSize({H, W}).
  at::Tensor ApplyFirst(const at::Tensor& images, RandomStream* random) const;

  // Adds views to all later results: each of `count` views is the augmented image, before its values become f32,
  // augmented again by `augmentations`; or the image after the first part, if `from_resized`. Errors: kInvalidArgument
  // "views.augmentation..." if one of them follows an augmentation that returns fractions.
  absl::Status AddViews(int count, std::vector<std::unique_ptr<const Augmentation>> augmentations,
                        bool from_resized = false);

  // Returns the result of Apply(), then the views. Takes from `staging` what Draw() added for as many images of their
  // size.
  std::vector<at::Tensor> ApplyWithViews(const at::Tensor& images, Staging* staging) const;
  void Draw(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const;

  // The same, for images that ApplyFirst() returned.
  std::vector<at::Tensor> ApplyRest(const at::Tensor& images, Staging* staging) const;
  void DrawRest(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const;

 private:
  Pipeline() = default;

  using Augmentations = absl::Span<const std::unique_ptr<const Augmentation>>;

  // The augmentations after the first part.
  Augmentations Rest() const { return absl::MakeConstSpan(augmentations_).subspan(first_); }
  // Applies augmentations to u8 images.
  at::Tensor Augment(Augmentations augmentations, const at::Tensor& images, Staging* staging) const;
  // The first part: draws for it and returns the size of its results; applies it.
  PixelSize DrawFirst(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const;
  at::Tensor ApplyFirstDrawn(const at::Tensor& images, Staging* staging) const;
  // u8, or f32 in [0, 255], -> normalised f32 in layout_.
  at::Tensor ToValues(const at::Tensor& images) const;
  // The same for colour images on the CPU in channels-last, by table_.
  at::Tensor LookedUp(const at::Tensor& images) const;
  // f32, (images / 255 - mean) / std.
  at::Tensor Normalised(const at::Tensor& images) const;

  bool is_features_ = false;
  std::optional<Resize> first_resize_;  // before grey images are repeated
  std::vector<std::unique_ptr<const Augmentation>> augmentations_;
  size_t first_ = 0;  // number of augmentations in the first part
  int views_ = 0;
  bool views_from_resized_ = false;
  std::vector<std::unique_ptr<const Augmentation>> view_augmentations_;
  std::vector<int64_t> image_sizes_;  // channels, size, size
  at::MemoryFormat layout_ = at::MemoryFormat::ChannelsLast;
  at::Tensor mean_;   // f32 [channels or 1, 1, 1]; undefined for mean 0
  at::Tensor std_;    // the same; undefined for std 1
  at::Tensor table_;  // f32 [channels, 1, 256]: the value of each byte; only on the CPU, in channels-last
};

}  // namespace openset

#endif  // OPENSET_DATA_PIPELINE_H_
