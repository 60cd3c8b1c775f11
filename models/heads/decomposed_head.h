// The head of generalised ODIN (Hsu et al., CVPR 2020): a class's logit is h_c(x) / g(x), of which the divisor takes
// what speaks against a sample whatever its class.
#ifndef OPENSET_MODELS_HEADS_DECOMPOSED_HEAD_H_
#define OPENSET_MODELS_HEADS_DECOMPOSED_HEAD_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// logits = h(x) / g(x) in training mode and h(x) otherwise, of which the largest is the paper's score;
// DecomposedHeadSpec defines h. g(x) = sigmoid(norm(divisor.weight . x + divisor.bias)), norm a batch norm over the
// samples. Parameters: h.weight [outputs, D] from N(0, 2 / D), h.bias [outputs] of INNER at 0, g.0.{weight,bias} and
// g.1.{weight,bias,running_mean,...}, as OpenOOD's godin_net.py names and draws them. There weight decay leaves h out,
// which here it does not.
std::shared_ptr<Head> MakeDecomposedHead(const DecomposedHeadSpec& spec, int64_t feature_dim, int64_t outputs);

}  // namespace openset

#endif  // OPENSET_MODELS_HEADS_DECOMPOSED_HEAD_H_
