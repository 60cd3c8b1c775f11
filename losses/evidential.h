// Evidential deep learning (Sensoy, Kaplan and Kandemir, NeurIPS 2018), with the objectives and evidence functions that
// EvidentialSpec lists.
//
//   mean_b objective_b + coefficient * KL_b,   alpha = evidence(z) + 1,   S = sum_c alpha_c,
//   KL = log Gamma(S') - log Gamma(K) - sum_c log Gamma(alpha'_c) + sum_c (alpha'_c - 1) (digamma(alpha'_c) -
//   digamma(S')),
//
// where alpha' is alpha with 1 for the label and S' is its sum. The KL is the divergence between the Dirichlet
// distribution of the evidence for wrong classes and the uniform one. It is computed in f64, because it is a small
// difference of large numbers.
//
// At least 0. The coefficient depends on LossInput.epoch. All outputs are classes. Clipped logits get no gradient.
#ifndef OPENSET_LOSSES_EVIDENTIAL_H_
#define OPENSET_LOSSES_EVIDENTIAL_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeEvidential(const EvidentialSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_EVIDENTIAL_H_
