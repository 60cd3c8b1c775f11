// Consistency term of AugMix (Hendrycks et al., ICLR 2020): makes the probabilities of an image's views equal.
//
//   mean_v mean_b KL(p_vb || M_b),   M = max(1e-7, mean_v p_v),   p = softmax(z),
//
// where v runs over the batch itself and LossInput.views: the Jensen-Shannon divergence of the views, except for the
// bound 1e-7. Between 0, for equal views, and log(number of views). Gradients flow into all views.
#ifndef OPENSET_LOSSES_JSD_CONSISTENCY_H_
#define OPENSET_LOSSES_JSD_CONSISTENCY_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeJsdConsistency(const JsdConsistencySpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_JSD_CONSISTENCY_H_
