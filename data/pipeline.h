// What happens to images between memory and model.
#ifndef OPENSET_DATA_PIPELINE_H_
#define OPENSET_DATA_PIPELINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/random.h"
#include "core/tensor/torch.h"
#include "data/augment/augmentation.h"
#include "data/augment/resize.h"

namespace openset {

// What a model takes in; the meaning is that of InputSpec.
struct InputFormat {
  int size = 32;
  int channels = 3;
  // For values in [0, 1]: none (mean 0, std 1), one for all channels, or one for each.
  std::vector<double> mean;
  std::vector<double> std;
};

// The augmentations in order, preceded by a Resize to the input size if none of them changes sizes; then
// (value / 255 - mean) / std, in f32. Without augmentations it is the pipeline of evaluation and draws nothing.
//
// Its first part reaches to the first augmentation that makes all images the input's size (or is that Resize): images
// of different sizes pass it one by one, and the rest together.
class Pipeline {
 public:
  // Errors: kInvalidArgument, "mean: ..." or "std: ...", for another number of values than the format allows;
  // "augmentation...: ...", if some change sizes but the last of these leaves another than the input's, and if one
  // follows an augmentation that gives fractions.
  static absl::StatusOr<Pipeline> Make(std::vector<std::unique_ptr<const Augmentation>> augmentations,
                                       const InputFormat& format, at::Device device);

  // u8 [B, C, H, W] on the device -> f32 [B, channels, size, size], channels-last. Grey images (C = 1) are repeated
  // before the augmentations; otherwise C must be `channels`. `random` may be null if no augmentation draws from it.
  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const;

  // The first part: u8 [B, C, H, W] -> u8 [B, C or channels, size, size].
  at::Tensor ApplyFirst(const at::Tensor& images, RandomStream* random) const;

  // From now on, further augmentations of the same images: each of `count` views is the image after the augmentations,
  // before its values become f32, augmented again.
  // Errors: kInvalidArgument, "views.augmentation...", where one follows an augmentation that gives fractions.
  absl::Status AddViews(int count, std::vector<std::unique_ptr<const Augmentation>> augmentations);

  // What Apply() gives, then the views.
  std::vector<at::Tensor> ApplyWithViews(const at::Tensor& images, RandomStream* random) const;

  // The same of what ApplyFirst() gave.
  std::vector<at::Tensor> ApplyRest(const at::Tensor& images, RandomStream* random) const;

 private:
  Pipeline() = default;

  // Augmentations [begin, end), on u8.
  at::Tensor Augment(const at::Tensor& images, size_t begin, size_t end, RandomStream* random) const;
  // u8, or f32 in [0, 255], -> normalised f32, channels-last.
  at::Tensor ToValues(const at::Tensor& images) const;
  // The same of colour images on the CPU, by table_.
  at::Tensor LookedUp(const at::Tensor& images) const;
  // (values / 255 - mean) / std, in place.
  at::Tensor Normalised(at::Tensor values) const;

  std::optional<Resize> first_resize_;  // of grey images before they are repeated
  std::vector<std::unique_ptr<const Augmentation>> augmentations_;
  size_t first_ = 0;  // augmentations of the first part
  int views_ = 0;
  std::vector<std::unique_ptr<const Augmentation>> view_augmentations_;
  std::vector<int64_t> image_sizes_;  // channels, size, size
  at::Tensor mean_;                   // f32 [channels or 1, 1, 1]; undefined for mean 0
  at::Tensor std_;                    // the same; undefined for std 1
  at::Tensor table_;                  // f32 [channels, 1, 256]: what becomes of each byte; only on the CPU
};

}  // namespace openset

#endif  // OPENSET_DATA_PIPELINE_H_
