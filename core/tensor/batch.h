// The values that data, models and losses pass to each other. B is the batch size, C, H, W an image's channels, height
// and width, K the number of the model's outputs, D of its features.
#ifndef OPENSET_CORE_TENSOR_BATCH_H_
#define OPENSET_CORE_TENSOR_BATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/tensor/torch.h"

namespace openset {

// What an open-set source drew and made for a batch, before the model sees it (core/tensor/open_set.h).
struct OpenSetDraws {
  std::vector<double> number;      // on the host
  std::vector<at::Tensor> tensor;  // on the training device
  at::Tensor image = {};  // f32 [U, C, H, W] like Batch.image: images for the model; undefined if there are none
};

// Training samples of known classes, on the training device.
struct Batch {
  at::Tensor image;                       // f32 [B, C, H, W], normalised, in InputFormat.layout
  at::Tensor label;                       // i64 [B], index of the known class
  at::Tensor sample;                      // i64 [B], index of the sample in the training set
  std::vector<at::Tensor> view = {};      // further augmentations of the same images, each like `image`
  at::Tensor host_label = {};             // `label` on the CPU; undefined in batches that were not loaded
  std::optional<OpenSetDraws> open = {};  // in steps that have an open set

  // `label` on the CPU. Waits for a GPU if host_label is undefined.
  at::Tensor HostLabel() const { return host_label.defined() ? host_label : label.cpu(); }

  // All tensors on the training device; some may be undefined.
  std::vector<at::Tensor> OnDevice() const {
    std::vector<at::Tensor> all = {image, label, sample};
    all.insert(all.end(), view.begin(), view.end());
    if (!open.has_value()) return all;
    all.push_back(open->image);
    all.insert(all.end(), open->tensor.begin(), open->tensor.end());
    return all;
  }
};

// A model's output for a batch. Logits, not probabilities.
struct ModelOutput {
  at::Tensor feature;   // [B, D], the input of the head
  at::Tensor logits;    // [B, K]
  at::Tensor distance;  // [B, K], for heads with a point per class: the distance to it; undefined for others
  at::Tensor point;     // [K, D], for heads with a point per class: the points; undefined for others

  // The output for the samples [begin, end).
  ModelOutput Rows(int64_t begin, int64_t end) const {
    ModelOutput rows{feature.slice(0, begin, end), logits.slice(0, begin, end), {}, point};
    if (distance.defined()) rows.distance = distance.slice(0, begin, end);
    return rows;
  }

  // The same values as constants, which no gradient flows into.
  ModelOutput Detached() const {
    const auto detach = [](const at::Tensor& tensor) { return tensor.defined() ? tensor.detach() : tensor; };
    return {detach(feature), detach(logits), detach(distance), detach(point)};
  }
};

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_BATCH_H_
