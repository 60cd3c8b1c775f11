// Outlier Exposure (Hendrycks, Mazeika and Dietterich, ICLR 2019): open samples are to have equal probabilities.
//
//   mean_j weight_j * (logsumexp_c z_jc - mean_c z_jc),
//
// z the logits [U, K] of the open samples: the cross entropy of their softmax from the uniform distribution. At least
// log K, which equal logits reach; 0 if no open sample counts. Needs LossInput.open. All outputs count as
// classes.
#ifndef OPENSET_LOSSES_OUTLIER_EXPOSURE_H_
#define OPENSET_LOSSES_OUTLIER_EXPOSURE_H_

#include <memory>

#include "losses/loss.h"

namespace openset {

std::unique_ptr<LossTerm> MakeOutlierExposure();

}  // namespace openset

#endif  // OPENSET_LOSSES_OUTLIER_EXPOSURE_H_
