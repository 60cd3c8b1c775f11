// II loss (Hassen and Chan, SDM 2020): pulls features towards the mean of their class, and pushes the means apart.
//
//   mean_b |x - m_y|^2 - min(100, min_{a != b} |m_a - m_b|^2),
//
// where x [B, D] are the features, m_a is the mean of the features of class a in the batch, and a and b run over the
// classes in the batch; for a batch of one class, the minimum is replaced by 0. At least -100. The paper has no such
// bound, but without it features of unbounded length grow until they overflow. All labels are below K, the number of
// outputs.
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
