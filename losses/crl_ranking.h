// Correctness ranking loss (Moon et al., ICML 2020): confidences are to be in the order of how often the samples were
// classified correctly so far.
//
//   mean_i max(0, -t_i (k_i - k_j) + |c_i - c_j|),   j = i + 1 mod B,
//
// k = max_c softmax(z)_c, c the share of correct epochs. In the variant ORIGINAL t_i = sign(c_i - c_j), so that pairs
// of equal c cost nothing; where all samples have been right in every epoch, all c are equal. In UNIFIED_BENCHMARK t_i
// is 1 for c_i > c_j; for c_i < c_j it is -1, and 1 where k_i = k_j (then the gradient has the wrong sign); for c_i =
// c_j it is -1 where k_i > k_j and 1 elsewhere, so that such a pair costs |k_i - k_j|.
//
// No gradient flows through t. Depends on the order of the batch, but not on where it starts. At least 0, and 0 for a
// batch of one. Needs LossInput.history.
#ifndef OPENSET_LOSSES_CRL_RANKING_H_
#define OPENSET_LOSSES_CRL_RANKING_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeCrlRanking(const CrlRankingSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_CRL_RANKING_H_
