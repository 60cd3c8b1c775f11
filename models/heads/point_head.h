// Heads with a learnable point per class. D_c = |x - P_c|^2 / d, with d the features' dimensions: a mean square.
#ifndef OPENSET_MODELS_HEADS_POINT_HEAD_H_
#define OPENSET_MODELS_HEADS_POINT_HEAD_H_

#include <cstdint>
#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Prototypes (GCPL, Yang et al. 2018): logits_c = -D_c.
//
// This head and the next have the parameter point [outputs, feature_dim], initialised from N(0, 0.1^2), and give
// ModelOutput.distance (D) and .point. Source: ARPL's loss/Dist.py.
std::shared_ptr<Head> MakePrototypeHead(const PrototypeHeadSpec& spec, int64_t feature_dim, int64_t outputs);

// Reciprocal points: logits_c = D_c (RPL, Chen et al. 2020), or D_c - x . P_c (ARPL, Chen et al. 2021; the dot product
// is not divided by d).
std::shared_ptr<Head> MakeReciprocalPointHead(const ReciprocalPointHeadSpec& spec, int64_t feature_dim,
                                              int64_t outputs);

}  // namespace openset

#endif  // OPENSET_MODELS_HEADS_POINT_HEAD_H_
