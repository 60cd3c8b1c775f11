// What a loss term needs from the trainer, according to its spec (without LibTorch).
#ifndef OPENSET_LOSSES_LOSS_NEEDS_H_
#define OPENSET_LOSSES_LOSS_NEEDS_H_

#include "losses/loss.pb.h"

namespace openset {

struct LossNeeds {
  bool open_set = false;      // LossInput.open
  bool slots = false;         // OpenSet.slot
  bool mixtures = false;      // OpenSet.share and OpenSet.partner
  bool extra_output = false;  // a head with an output beyond the known classes
  bool history = false;       // LossInput.history
  bool points = false;        // a head with a point per class
  int extra_views = 0;        // the size of LossInput.views
};

// Precondition: the spec has a kind.
LossNeeds NeedsOf(const LossTermSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_LOSS_NEEDS_H_
