// A linear head: logits = W x + b, or that divided by its length plus 1e-4. With a feature_temperature t, x is the
// backbone's features divided by t and, in training mode, also by their length (T2FNorm: Regmi et al. 2024; evaluation
// as in OpenOOD's t2fnorm_net.py for networks that are trained from scratch). The output's features are the backbone's
// in training mode, and x in evaluation mode, because scores compute the logits again from them.
#ifndef OPENSET_MODELS_HEADS_LINEAR_HEAD_H_
#define OPENSET_MODELS_HEADS_LINEAR_HEAD_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Makes a head that computes `outputs` logits from `feature_dim` features. Parameters: weight [outputs, feature_dim]
// and, unless the spec excludes it, bias [outputs], initialised as the spec says.
std::shared_ptr<Head> MakeLinearHead(const LinearHeadSpec& spec, int64_t feature_dim, int64_t outputs);

}  // namespace openset

#endif  // OPENSET_MODELS_HEADS_LINEAR_HEAD_H_
