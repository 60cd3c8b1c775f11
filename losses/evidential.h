// Evidential deep learning (Sensoy, Kaplan and Kandemir, NeurIPS 2018), with the objectives and evidence functions that
// EvidentialSpec lists.
//
//   mean_b objective_b + coefficient * KL_b,   alpha = evidence(z) + 1,   S = sum_c alpha_c,
//   KL = log Gamma(S') - log Gamma(K) - sum_c log Gamma(alpha'_c) + sum_c (alpha'_c - 1) (digamma(alpha'_c) -
//   digamma(S')),
//
// alpha' = alpha but 1 for the label, S' its sum: the divergence from the uniform Dirichlet distribution of the
// evidence for wrong classes. The KL is computed in f64, for it is a small difference of large numbers.
//
// At least 0. The coefficient depends on LossInput.epoch. All outputs count as classes. Logits that are clipped get no
// gradient.
#ifndef OPENSET_LOSSES_EVIDENTIAL_H_
#define OPENSET_LOSSES_EVIDENTIAL_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeEvidential(const EvidentialSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_EVIDENTIAL_H_
