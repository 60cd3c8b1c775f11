// Makes each colour image grey with a probability (torchvision's RandomGrayscale on Pillow images).
#ifndef OPENSET_DATA_AUGMENT_RANDOM_GREYSCALE_H_
#define OPENSET_DATA_AUGMENT_RANDOM_GREYSCALE_H_

#include "core/tensor/torch.h"

namespace openset {

// u8 [N, 3, H, W] -> u8 [N, 1, H, W]: ITU-R 601 luma in 16 bits after the point, as Pillow's mode "L".
at::Tensor Grey(const at::Tensor& images);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RANDOM_GREYSCALE_H_
