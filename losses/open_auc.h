// The pairwise term of OpenAUC (Wang et al., NeurIPS 2022, Eq. 15 and 17): the AUC risk of unknown above known, for the
// known samples that are classified correctly.
//
//   mean over pairs (i, j) of  keep_i * weight_j * l(r_j - r_i),
//
// where i is a known and j an open sample, r the unknown score (larger = more unknown), and l the surrogate loss.
// keep_i is 1 if the largest logit of sample i (the first of equal ones) is that of its label, or with
// include_misclassified, and otherwise 0; no gradient flows through it. Gradients flow into both scores, through the
// largest logit of each.
//
// Pairs: all (i, j), or each open sample with the known sample at its slot (OpenSet.slot).
// Mean:  over the pairs with keep_i weight_j = 1, or over those with weight_j = 1; 0 if there are none.
//
// All outputs count as classes in r and in keep: not for heads with an output for the unknown. Needs LossInput.open.
// At least 0. All pairs cost O(B + U) with the square surrogate, O(B U) with the others.
#ifndef OPENSET_LOSSES_OPEN_AUC_H_
#define OPENSET_LOSSES_OPEN_AUC_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeOpenAuc(const OpenAucSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_OPEN_AUC_H_
