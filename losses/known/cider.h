// CIDER (Ming et al., ICLR 2023): features are to be near the prototype of their class on a sphere, and the prototypes
// far apart.
//
//   mean_v compactness * -log softmax_c(v . p_c / t)_y + mean_a log mean_{b != a} exp(p_a . p_b / t),
//
// v = P(x) / |P(x)| for the features x [B, D] of the batch and of its views, P(x) = V relu(U x + u) + w the term's own
// network (parameters "hidden.*" [D, D] and "projection.*" [P, D], as PyTorch draws them), y the label, t the
// temperature. The prototypes p [K, P] are the term's state "prototype". Each step, the v of one sample after the other
// move them: p_y <- m p_y + (1 - m) v, divided by its length. The first sum takes them as constants; in the second,
// gradients flow through these moves into the features. Both as in the authors' code and OpenOOD, with these
// differences: a prototype starts at the first v of its class (released: at the mean of the v of a set of samples);
// OpenOOD multiplies the first sum by t / 0.07, a constant of its code.
//
// Nothing here trains the head: it learns beside the term where it has stop_gradient. Scores read the features x.
#ifndef OPENSET_LOSSES_KNOWN_CIDER_H_
#define OPENSET_LOSSES_KNOWN_CIDER_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeCider(const CiderSpec& spec, const LossSetting& setting);

}  // namespace openset

#endif  // OPENSET_LOSSES_KNOWN_CIDER_H_
