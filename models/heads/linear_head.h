// logits = W x + b, or that divided by its length plus 1e-4. With a feature_temperature t, x is the backbone's
// features divided by t and, in training mode, by their length (T2FNorm: Regmi et al. 2024; in test as OpenOOD's
// t2fnorm_net.py for networks that are trained from scratch). The output's features are x in test, from which scores
// compute the logits again, and the backbone's in training.
#ifndef OPENSET_MODELS_HEADS_LINEAR_HEAD_H_
#define OPENSET_MODELS_HEADS_LINEAR_HEAD_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// `outputs` logits of features of dimension `feature_dim`. Parameters: weight [outputs, feature_dim] and, unless the
// spec says no, bias [outputs], initialised as the spec says.
std::shared_ptr<Head> MakeLinearHead(const LinearHeadSpec& spec, int64_t feature_dim, int64_t outputs);

}  // namespace openset

#endif  // OPENSET_MODELS_HEADS_LINEAR_HEAD_H_
