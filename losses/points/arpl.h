// Adversarial margin of ARPL (Chen et al., TPAMI 2021): bounds the distance of features from the reciprocal point of
// their class.
//
//   mean_b max(0, D_by - R + margin),
//
// D [B, K] = ModelOutput.distance, |x - P_c|^2 / d with d the features' dimensions, y the label, R the learnable
// parameter "radius" [1], which starts at 0. At least 0.
#ifndef OPENSET_LOSSES_POINTS_ARPL_H_
#define OPENSET_LOSSES_POINTS_ARPL_H_

#include <memory>

#include "core/tensor/torch.h"
#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeArpl(const ArplSpec& spec, at::Device device);

}  // namespace openset

#endif  // OPENSET_LOSSES_POINTS_ARPL_H_
