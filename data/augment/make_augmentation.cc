#include "data/augment/make_augmentation.h"

#include "core/logging.h"
#include "data/augment/aug_mix.h"
#include "data/augment/center_crop.h"
#include "data/augment/horizontal_flip.h"
#include "data/augment/rand_augment.h"
#include "data/augment/random_crop.h"
#include "data/augment/random_resized_crop.h"
#include "data/augment/resize.h"

namespace openset {

std::unique_ptr<Augmentation> MakeAugmentation(const AugmentationSpec& spec, int input_size) {
  switch (spec.kind_case()) {
    case AugmentationSpec::kRandAugment:
      return MakeRandAugment(spec.rand_augment());
    case AugmentationSpec::kRandomCrop:
      return MakeRandomCrop(spec.random_crop(), input_size);
    case AugmentationSpec::kHorizontalFlip:
      return MakeHorizontalFlip(spec.horizontal_flip());
    case AugmentationSpec::kResize:
      if (spec.resize().shorter_side() > 0) {
        return MakeResizeShorterSide(spec.resize().shorter_side(), spec.resize().filter());
      }
      return MakeResize(input_size, spec.resize().filter());
    case AugmentationSpec::kAugMix:
      return MakeAugMix(spec.aug_mix());
    case AugmentationSpec::kRandomResizedCrop:
      return MakeRandomResizedCrop(spec.random_resized_crop(), input_size);
    case AugmentationSpec::kCenterCrop:
      return MakeCenterCrop(input_size);
    case AugmentationSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "an AugmentationSpec without a kind";
}

}  // namespace openset
