// Vision transformers (Dosovitskiy et al., ICLR 2021): ViT-B/16 by default.
#ifndef OPENSET_MODELS_TRANSFORMERS_VISION_TRANSFORMER_H_
#define OPENSET_MODELS_TRANSFORMERS_VISION_TRANSFORMER_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// A class token and then a token for each patch (a convolution of the patch's size and stride), each plus a position
// embedding; then `depth` blocks
//   x + projection(attention(norm1(x))),  x + fc2(gelu(fc1(norm2(x)))), fc1 to 4 times the width;
// the features are norm(x) of the class token (D = width). Layer norms have an epsilon of 1e-6. There is no dropout. If
// the image's size is not a multiple of the patch, its last rows and columns are ignored. With the defaults and 224x224
// images of 3 channels, it has 85,798,656 parameters. Weights start from N(0, 0.02^2), the patches' like PyTorch's
// convolutions, biases from 0. Parameters are named as in timm: cls_token, pos_embed, patch_embed.proj,
// blocks.B.{norm1,attn.qkv,attn.proj,norm2,mlp.fc1,mlp.fc2}, norm.
std::shared_ptr<Backbone> MakeVisionTransformer(const VisionTransformerSpec& spec, const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_MODELS_TRANSFORMERS_VISION_TRANSFORMER_H_
