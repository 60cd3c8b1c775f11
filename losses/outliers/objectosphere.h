// Entropic open-set and objectosphere loss (Dhamija et al., NeurIPS 2018).
//
//   (sum_i [-log p_iy + f max(0, l - |x_i|)^2] + sum_j weight_j [-mean_c log p_jc + f |x_j|^2]) / (B + sum_j weight_j),
//
// i the known samples with label y, j the open ones, p = softmax(z) over all outputs, x the features, f the
// feature_weight (0: entropic open-set), l the known_length. At least 0. Needs LossInput.open. As in pytorch-ood 0.4.0
// (ObjectosphereLoss with its mean over the batch).
#ifndef OPENSET_LOSSES_OUTLIERS_OBJECTOSPHERE_H_
#define OPENSET_LOSSES_OUTLIERS_OBJECTOSPHERE_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeObjectosphere(const ObjectosphereSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_OUTLIERS_OBJECTOSPHERE_H_
