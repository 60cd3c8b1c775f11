// The base class of open-set sources that only add images to the batch.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_EXTRA_IMAGES_H_
#define OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_EXTRA_IMAGES_H_

#include "core/tensor/open_set.h"

namespace openset {

// Derived classes implement Draw() and Take(), which makes the images. All images have weight 1, and none is paired
// with a known sample.
class ExtraImageSource : public OpenSetSource {
 public:
  OpenSet Make(const Context& context) override {
    const bool any = context.extra.logits.defined();
    const ModelOutput& output = any ? context.extra : context.known.Rows(0, 0);
    return {output, {}, at::ones({output.logits.size(0)}, output.logits.options().dtype(at::kFloat))};
  }
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_EXTRA_IMAGES_H_
