// Softmax cross entropy with label smoothing.
//
//   mean_b -sum_c q_bc log p_bc,   p_b = softmax(z_b / T),
//
// z [B, K] the logits (with normalise_logits divided by their length plus 1e-7: LogitNorm, Wei et al., ICML 2022), T
// the temperature, q the smoothed target (SmoothingTarget in loss.proto), in which all K outputs count as classes.
// Where open samples are the last class, the mean is over known and open samples with the open ones' weights, (sum of
// known + sum of weight * open) / (B + sum of weight).
//
// At least 0; with label smoothing the least value is the entropy of the target. Needs LossInput.open only if open
// samples count.
#ifndef OPENSET_LOSSES_CROSS_ENTROPY_H_
#define OPENSET_LOSSES_CROSS_ENTROPY_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeCrossEntropy(const CrossEntropySpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_CROSS_ENTROPY_H_
