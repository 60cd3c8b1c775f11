// The cross entropy of mixed images: Mixup (Zhang et al. 2018), CutMix (Yun et al. 2019), RegMixup (Pinto et al. 2022),
// MixOE (Zhang et al. 2023).
//
//   mean_j share_j * -log p_jy + (1 - share_j) * -log p_jb,
//
// j the open samples, p = softmax(z), y the label of the known sample at slot_j, b = partner_j; for b = -1 the last
// factor is -mean_c log p_jc. Weighted by OpenSet.weight; 0 if none counts. At least 0. Needs LossInput.open with
// share, partner and slot.
#ifndef OPENSET_LOSSES_OUTLIERS_MIXED_CROSS_ENTROPY_H_
#define OPENSET_LOSSES_OUTLIERS_MIXED_CROSS_ENTROPY_H_

#include <memory>

#include "losses/loss.h"

namespace openset {

std::unique_ptr<LossTerm> MakeMixedCrossEntropy();

}  // namespace openset

#endif  // OPENSET_LOSSES_OUTLIERS_MIXED_CROSS_ENTROPY_H_
