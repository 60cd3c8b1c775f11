// Softmax cross entropy with label smoothing.
//
//   mean_b -sum_c q_bc log p_bc,   p_b = softmax(z_b / T),
//
// where z [B, K] are the logits, T is the temperature and q is the smoothed target (SmoothingTarget in loss.proto), for
// which all K outputs are classes. With normalise_logits, z is divided by its length plus 1e-7 (LogitNorm, Wei et al.,
// ICML 2022). If open samples are the last class, the result is a weighted mean over known and open samples: (sum over
// known + sum over open of weight * loss) / (B + sum of weight).
//
// At least 0; with label smoothing, at least the entropy of the target. Needs LossInput.open only if open samples are a
// class.
#ifndef OPENSET_LOSSES_CROSS_ENTROPY_H_
#define OPENSET_LOSSES_CROSS_ENTROPY_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeCrossEntropy(const CrossEntropySpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_CROSS_ENTROPY_H_
