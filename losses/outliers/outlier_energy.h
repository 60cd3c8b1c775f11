// Energy term of VOS (Du et al., ICLR 2022): separates known from open samples by a logistic regression on their
// energy.
//
//   (sum_i -log q_1(E_i) + sum_j weight_j -log q_0(E_j)) / (B + sum_j weight_j),   q(E) = softmax(a E + b),
//   E = log sum_c max(0, w_c) exp(z_c),
//
// i the known samples, j the open ones; parameters w [K] ("energy"), from U(0, 1), a and b [2] ("slope" and "offset"),
// from U(-1, 1), as PyTorch draws them. 0 if no open sample counts. At least 0. Needs LossInput.open. As in the
// authors' code (deeplearning-wisc/vos, CIFAR/train_virtual.py), where E has the sign of our confidence. OpenOOD's
// trainer draws w again for each batch and passes E through Python lists, so that its term has no gradient with respect
// to the network.
#ifndef OPENSET_LOSSES_OUTLIERS_OUTLIER_ENERGY_H_
#define OPENSET_LOSSES_OUTLIERS_OUTLIER_ENERGY_H_

#include <memory>

#include "losses/loss.h"

namespace openset {

std::unique_ptr<LossTerm> MakeOutlierEnergy(const LossSetting& setting);

}  // namespace openset

#endif  // OPENSET_LOSSES_OUTLIERS_OUTLIER_ENERGY_H_
