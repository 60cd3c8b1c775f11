// CIDER (Ming et al., ICLR 2023): pulls features towards the prototype of their class on a sphere, and pushes the
// prototypes apart.
//
//   mean_v compactness * -log softmax_c(v . p_c / t)_y + mean_a log mean_{b != a} exp(p_a . p_b / t),
//
// v = P(x) / |P(x)| for the features x [B, D] of the batch and of its views, P(x) = V relu(U x + u) + w the term's own
// network (parameters "hidden.*" [D, D] and "projection.*" [P, D], as PyTorch draws them), y the label, t the
// temperature. The prototypes p [K, P] are the term's state "prototype". In each step, they are updated by one sample
// after the other: p_y <- m p_y + (1 - m) v, divided by its length. In the first sum, they are constants; in the
// second, gradients flow through these updates into the features. With one class, the second sum is 0. Both as in the
// authors' code and OpenOOD, with these differences: a prototype starts at the first v of its class (released: at the
// mean of the v of a set of samples); OpenOOD multiplies the first sum by t / 0.07, where 0.07 is a constant in its
// code.
//
// The term doesn't train the head; a head with stop_gradient is trained by another term. Scores read the features x.
#ifndef OPENSET_LOSSES_KNOWN_CIDER_H_
#define OPENSET_LOSSES_KNOWN_CIDER_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeCider(const CiderSpec& spec, const LossSetting& setting);

}  // namespace openset

#endif  // OPENSET_LOSSES_KNOWN_CIDER_H_
