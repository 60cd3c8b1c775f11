// Correctness ranking loss (Moon et al., ICML 2020): ranks confidences by how often the samples have been classified
// correctly so far.
//
//   mean_i max(0, -t_i (k_i - k_j) + |c_i - c_j|),   j = i + 1 mod B,
//
// where k = max_c softmax(z)_c, and c is the share of epochs in which the sample was classified correctly, as
// CrlRankingSpec.Variant defines it. In the variant ORIGINAL, t_i = sign(c_i - c_j), so that pairs with equal c cost
// nothing (once all samples have been correct in every epoch, all c are equal). In UNIFIED_BENCHMARK, t_i is 1 for
// c_i > c_j; for c_i < c_j it is -1, but 1 if k_i = k_j (the gradient then has the wrong sign); for c_i = c_j it is -1
// if k_i > k_j and 1 otherwise, so that such a pair costs |k_i - k_j|.
//
// No gradient flows through t. Depends on the cyclic order of the batch. At least 0, and 0 for a batch of one. Needs
// LossInput.history.
#ifndef OPENSET_LOSSES_CRL_RANKING_H_
#define OPENSET_LOSSES_CRL_RANKING_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeCrlRanking(const CrlRankingSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_CRL_RANKING_H_
