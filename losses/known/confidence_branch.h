// Confidence branch (DeVries and Taylor 2018): the network may ask for hints about the label, at a cost.
//
//   mean_b -log(k_b p_by + 1 - k_b) + w mean_b -log k_b,
//
// p = softmax of all logits but the last, k = sigmoid of the last one, both kept within [e, 1 - e], e = 1e-12 (1e-7 in
// f32, where 1 - 1e-12 is 1). In the first mean, k_b = 1 for samples at odd indices of the batch (from 0), so that half
// of the samples get no hints. w starts at spec.weight and is the term's state "weight": after each step it is divided
// by 1.01 if the second mean is below the budget, and by 0.99 otherwise. At least 0.
//
// The authors' code and OpenOOD select the half at random; here the index decides, because a batch is in random order.
// The score is `extra_output { value: NEGATED }`.
#ifndef OPENSET_LOSSES_KNOWN_CONFIDENCE_BRANCH_H_
#define OPENSET_LOSSES_KNOWN_CONFIDENCE_BRANCH_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeConfidenceBranch(const ConfidenceBranchSpec& spec, at::Device device);

}  // namespace openset

#endif  // OPENSET_LOSSES_KNOWN_CONFIDENCE_BRANCH_H_
