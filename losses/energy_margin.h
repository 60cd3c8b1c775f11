// Energy-bounded learning (Liu et al., NeurIPS 2020): separates the energies of known and open samples by a margin.
//
//   mean_i max(0, E_i - known_margin)^2 + mean_j weight_j max(0, open_margin - E_j)^2,   E = -logsumexp_c z_c,
//
// where i are the known samples and j the open samples. At least 0; without open samples the second mean is 0. Needs
// LossInput.open. All outputs count as classes.
#ifndef OPENSET_LOSSES_ENERGY_MARGIN_H_
#define OPENSET_LOSSES_ENERGY_MARGIN_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeEnergyMargin(const EnergyMarginSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_ENERGY_MARGIN_H_
