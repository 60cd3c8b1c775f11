// SCONE (Bai et al., ICML 2023), which is WOODS with a margin: separates wild from known samples by their energy, under
// the constraints that few known samples are classified as wild and that the cross entropy stays low. With
// C = logsumexp_c z_c and u(C) = sigmoid(a C + b),
//
//   (sum_j weight_j (1 - u(C_j - margin))) / sum_j weight_j + P(mean_i u(C_i) - false_alarm; l_1, w_1)
//                                          + P(mean_i -log p_i,y - limit * reference; l_2, w_2),
//   P(g; l, w) = l g + w/2 g^2 where w g + l >= 0, else -l^2 / (2 w)       (augmented Lagrangian),
//
// i the known samples, j the open ones, which are the wild ones. Parameters a and b ("slope", "offset") from U(-1, 1),
// as PyTorch draws them. Multipliers l start at 0, weights w at 1. After an epoch, with G the mean of g over its steps,
// l becomes l + rate G if w G + l >= 0 and otherwise l - rate l / w, and w grows by `penalty_growth` if G > 0.
// `reference` is the mean cross entropy over the steps of the first epoch; during that epoch, over the steps so far.
// The term replaces the cross entropy. The first part is 0 if no open sample counts. Needs LossInput.open.
//
// As in the authors' code (deeplearning-wisc/scone, CIFAR/train.py), except that there the means after an epoch, and
// the reference before the first epoch, are computed over the training samples with the network in evaluation mode.
#ifndef OPENSET_LOSSES_OUTLIERS_ENERGY_CONSTRAINT_H_
#define OPENSET_LOSSES_OUTLIERS_ENERGY_CONSTRAINT_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

// State: "multiplier" [2], "weight" [2], "reference" (negative in the first epoch), "epoch", and "sums" [3], of u, of
// the cross entropy and of 1 over the steps of that epoch; f64.
std::unique_ptr<LossTerm> MakeEnergyConstraint(const EnergyConstraintSpec& spec, const LossSetting& setting);

}  // namespace openset

#endif  // OPENSET_LOSSES_OUTLIERS_ENERGY_CONSTRAINT_H_
