// Open-space term of reciprocal point learning (Chen et al., ECCV 2020): pulls the distance of features from the
// reciprocal point of their class towards a common value.
//
//   mean_b (D_by - R)^2,
//
// D [B, K] = ModelOutput.distance, |x - P_c|^2 / d with d the features' dimensions, y the label, R the learnable
// parameter "radius" [1], which starts at 0: one for all classes, as in the code of ARPL. At least 0.
#ifndef OPENSET_LOSSES_POINTS_RPL_H_
#define OPENSET_LOSSES_POINTS_RPL_H_

#include <memory>

#include "core/tensor/torch.h"
#include "losses/loss.h"

namespace openset {

std::unique_ptr<LossTerm> MakeRpl(at::Device device);

}  // namespace openset

#endif  // OPENSET_LOSSES_POINTS_RPL_H_
