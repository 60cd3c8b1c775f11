// Placeholders of PROSER (Zhou et al., CVPR 2021): the last output represents the unknown.
//
//   mean_i -log p^{-y_i}_i,last + open_weight * (sum_j weight_j -log p_j,last) / sum_j weight_j,   p = softmax(z),
//
// where i are the known samples and j the open samples. p^{-y} is the softmax without the sample's own class; the first
// mean makes the last output the second largest (classifier placeholder, Eq. 4). The second mean (data placeholder,
// Eq. 6) is 0 if no open sample counts. At least 0. Needs LossInput.open and a head with an extra output. As in the
// authors' code (CVPR21-Proser, proser_unknown_detection.py) with one dummy classifier, its default.
#ifndef OPENSET_LOSSES_OUTLIERS_PLACEHOLDER_H_
#define OPENSET_LOSSES_OUTLIERS_PLACEHOLDER_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakePlaceholder(const PlaceholderSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_OUTLIERS_PLACEHOLDER_H_
