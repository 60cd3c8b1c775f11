#include "core/tensor/testing/draw_open_set.h"

#include "core/status_macros.h"

namespace openset {

absl::Status DrawOpenSet(OpenSetSource* source, RandomStream* random, Batch* batch) {
  const at::Tensor host_label = batch->HostLabel();
  const at::Tensor& image = batch->image;
  const bool has_image = image.defined();
  Staging staging;
  batch->open.emplace();
  OPENSET_RETURN_IF_ERROR(source->Draw({host_label, has_image ? image.size(1) : 0, has_image ? image.size(2) : 0,
                                        has_image ? image.size(3) : 0, random, &staging, &batch->open->number}));
  staging.MoveTo(batch->label.device());
  source->Take(&staging, batch);
  return absl::OkStatus();
}

}  // namespace openset
