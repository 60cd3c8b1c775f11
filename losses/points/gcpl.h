// Prototype term of GCPL (Yang et al., CVPR 2018): pulls features towards the prototype of their class.
//
//   mean_b D_by / 2,
//
// D [B, K] = ModelOutput.distance, |x - P_c|^2 / d with d the features' dimensions, y the label: half the mean square
// of x - P_y over samples and dimensions, as in the code of ARPL. At least 0.
#ifndef OPENSET_LOSSES_POINTS_GCPL_H_
#define OPENSET_LOSSES_POINTS_GCPL_H_

#include <memory>

#include "losses/loss.h"

namespace openset {

std::unique_ptr<LossTerm> MakeGcpl();

}  // namespace openset

#endif  // OPENSET_LOSSES_POINTS_GCPL_H_
