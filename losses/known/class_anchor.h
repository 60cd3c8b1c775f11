// Class anchor clustering (Miller et al., WACV 2021): pulls logits towards the anchor of their class.
//
//   mean_b log(1 + sum_{c != y} exp(d_y - d_c)) + attraction d_y,   d_c = |z - anchor e_c|_2,
//
// z [B, K] the logits, e_c the c-th unit vector, y the label. At least 0. Its score is `class_anchor`.
//
// As in the authors' code (dimitymiller/cac-openset). pytorch-ood 0.4.0 squares the distances, clips the exponents at
// 50, and excludes the last class from the sum instead of y, which adds a constant exp(0) for each other y.
#ifndef OPENSET_LOSSES_KNOWN_CLASS_ANCHOR_H_
#define OPENSET_LOSSES_KNOWN_CLASS_ANCHOR_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeClassAnchor(const ClassAnchorSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_KNOWN_CLASS_ANCHOR_H_
