// The head of generalised ODIN (Hsu et al., CVPR 2020): the logit of a class is h_c(x) / g(x), where the divisor models
// whether the sample is in distribution, regardless of its class.
#ifndef OPENSET_MODELS_HEADS_DECOMPOSED_HEAD_H_
#define OPENSET_MODELS_HEADS_DECOMPOSED_HEAD_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// logits = h(x) / g(x) in training mode, and h(x) otherwise; the paper's score is the largest h_c(x).
// DecomposedHeadSpec defines h. g(x) = sigmoid(norm(divisor.weight . x + divisor.bias)), where norm is a batch norm
// over the samples. Parameters: h.weight [outputs, D] from N(0, 2 / D), for INNER h.bias [outputs] from 0,
// g.0.{weight,bias} and g.1.{weight,bias,running_mean,...}, named and drawn as in OpenOOD's godin_net.py. Unlike here,
// OpenOOD excludes h from weight decay.
std::shared_ptr<Head> MakeDecomposedHead(const DecomposedHeadSpec& spec, int64_t feature_dim, int64_t outputs);

}  // namespace openset

#endif  // OPENSET_MODELS_HEADS_DECOMPOSED_HEAD_H_
