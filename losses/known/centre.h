// Centre loss (Wen et al., ECCV 2016): pulls features towards a learnt centre of their class.
//
//   mean_b |x - c_y|^2 / 2,
//
// x [B, D] the features, y the label, c [K, D] the term's parameter "centre", from N(0, 1). At least 0. For heads of
// any kind: GcplSpec has the same form with the points of a prototype head, divided by D.
//
// The paper updates the centres by a separate rule; here, as in public PyTorch code, the model's optimiser does.
// pytorch-ood 0.4.0 divides by the number of classes as well, and by 1 instead of 2.
#ifndef OPENSET_LOSSES_KNOWN_CENTRE_H_
#define OPENSET_LOSSES_KNOWN_CENTRE_H_

#include <memory>

#include "losses/loss.h"

namespace openset {

std::unique_ptr<LossTerm> MakeCentre(const LossSetting& setting);

}  // namespace openset

#endif  // OPENSET_LOSSES_KNOWN_CENTRE_H_
