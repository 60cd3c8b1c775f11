// Outlier Exposure (Hendrycks, Mazeika and Dietterich, ICLR 2019): makes the probabilities of open samples uniform.
//
//   mean_j weight_j * (logsumexp_c z_jc - mean_c z_jc),
//
// where z [U, K] are the logits of the open samples: the cross entropy between the uniform distribution and their
// softmax. At least log K, which is reached for equal logits; 0 if no open sample counts. Needs LossInput.open. All
// outputs count as classes.
#ifndef OPENSET_LOSSES_OUTLIER_EXPOSURE_H_
#define OPENSET_LOSSES_OUTLIER_EXPOSURE_H_

#include <memory>

#include "losses/loss.h"

namespace openset {

std::unique_ptr<LossTerm> MakeOutlierExposure();

}  // namespace openset

#endif  // OPENSET_LOSSES_OUTLIER_EXPOSURE_H_
