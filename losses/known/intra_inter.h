// II loss (Hassen and Chan, SDM 2020): features are to lie near the mean of their class, and the means far apart.
//
//   mean_b |x - m_y|^2 - min(100, min_{a != b} |m_a - m_b|^2),
//
// x [B, D] the features, m_a the mean of those of class a in the batch, a and b the classes that it has; 0 in the place
// of the minimum for a batch of one class. At least -100: the paper has no such bound, without which features of a
// network whose lengths have none grow until they overflow. All rows' labels are below K, the number of outputs.
//
// pytorch-ood 0.4.0 measures against running means of the classes instead, and the authors' code (shrtCKT/opennet)
// against the batch's. Its score is `nearest_mean`.
#ifndef OPENSET_LOSSES_KNOWN_INTRA_INTER_H_
#define OPENSET_LOSSES_KNOWN_INTRA_INTER_H_

#include <memory>

#include "losses/loss.h"

namespace openset {

std::unique_ptr<LossTerm> MakeIntraInter();

}  // namespace openset

#endif  // OPENSET_LOSSES_KNOWN_INTRA_INTER_H_
