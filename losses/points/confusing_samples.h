// Confusing samples of ARPL+CS (Chen et al., TPAMI 2021): makes the distances of open samples from all reciprocal
// points equal.
//
//   exp(mean_j weight_j sum_c p_jc log p_jc),   p = softmax(D),
//
// D [U, K] = ModelOutput.distance of the open samples. Between 1 / K, for equal distances, and 1; 0 if no open sample
// counts. Needs LossInput.open. With Entropy RELEASED the value is NaN once a p_jc is 0 in floating point, that is for
// distances in f32 that differ by more than about 104; GUARDED is equal to it up to rounding elsewhere.
#ifndef OPENSET_LOSSES_POINTS_CONFUSING_SAMPLES_H_
#define OPENSET_LOSSES_POINTS_CONFUSING_SAMPLES_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeConfusingSamples(const ConfusingSamplesSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_POINTS_CONFUSING_SAMPLES_H_
