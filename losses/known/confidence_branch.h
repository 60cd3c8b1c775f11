// Confidence branch (DeVries and Taylor 2018): the network may ask for the answer, at a price.
//
//   mean_b -log(k_b p_by + 1 - k_b) + w mean_b -log k_b,
//
// p = softmax of all logits but the last, k = sigmoid of the last one, both kept within [e, 1 - e], e = 1e-12 (1e-7 in
// f32, where 1 - 1e-12 is 1); in the first mean k_b = 1 for the samples at odd places of the batch, from 0: half of
// them go without hints. w starts at spec.weight and is the term's state "weight": after each step it is divided
// by 1.01 where the second mean is below the budget, otherwise by 0.99. At least 0.
//
// The authors' code and OpenOOD draw the half sample by sample; a batch comes in a random order, so here the places
// decide. The score is `extra_output { value: NEGATED }`.
#ifndef OPENSET_LOSSES_KNOWN_CONFIDENCE_BRANCH_H_
#define OPENSET_LOSSES_KNOWN_CONFIDENCE_BRANCH_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeConfidenceBranch(const ConfidenceBranchSpec& spec, at::Device device);

}  // namespace openset

#endif  // OPENSET_LOSSES_KNOWN_CONFIDENCE_BRANCH_H_
