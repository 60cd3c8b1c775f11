// Transformers with shifted windows (Liu et al., ICCV 2021): Swin-T by default.
#ifndef OPENSET_MODELS_TRANSFORMERS_SWIN_TRANSFORMER_H_
#define OPENSET_MODELS_TRANSFORMERS_SWIN_TRANSFORMER_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Patches of 4x4 (a convolution and a layer norm); 4 stages of 2, 2, 6 and 2 blocks with w, 2 w, 4 w and 8 w channels
// and 3, 6, 12 and 24 heads (of 32 channels for the default width of 96); between stages, 2x2 tokens become one. A
// block is
//   x + projection(attention(norm1(x))),  x + mlp(norm2(x)), the mlp to 4 times the channels and back through gelu,
// where the attention is within windows of 7x7 tokens, which every other block shifts by 3, with a bias for each
// relative position. Sides that are not a multiple of 7 are padded with zeros. If a window covers the image, no block
// shifts it. The features are the mean of norm(x) over the tokens (D = 8 w). There is no stochastic depth (torchvision
// trains with 0.2). The default network has 27,519,354 parameters. Weights start from N(0, 0.02^2), the patches' like
// PyTorch's convolutions, biases from 0. Parameters are named as in torchvision: features.0.{0,2}, features.S.B.{norm1,
// attn.{relative_position_bias_table,qkv,proj},norm2,mlp.{0,3}} for S = 1, 3, 5 and 7, features.S.{reduction,norm} for
// S = 2, 4 and 6, norm. torchvision's files also have attn.relative_position_index, which holds no weights.
std::shared_ptr<Backbone> MakeSwinTransformer(const SwinTransformerSpec& spec, const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_MODELS_TRANSFORMERS_SWIN_TRANSFORMER_H_
