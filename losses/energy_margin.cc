// Energy-bounded learning (Liu et al., NeurIPS 2020): separates the energies of known and open samples by a margin.
//
//   mean_i max(0, E_i - known_margin)^2 + mean_j weight_j max(0, open_margin - E_j)^2,   E = -logsumexp_c z_c,
//
// where i are the known samples and j the open samples. At least 0; without open samples the second mean is 0. Needs
// LossInput.open. All outputs count as classes.
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

at::Tensor Energy(const at::Tensor& logits) { return -logits.logsumexp(1); }

class EnergyMargin : public LossTerm {
 public:
  explicit EnergyMargin(const EnergyMarginSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "the energy margin needs an open-set source";
    const at::Tensor known = (Energy(input.known.logits) - spec_.known_margin()).clamp_min(0).square();
    const at::Tensor open = (spec_.open_margin() - Energy(input.open->output.logits)).clamp_min(0).square();
    return known.mean() + WeightedMean(open, input.open->weight);
  }

 private:
  const EnergyMarginSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const EnergyMarginSpec& spec, const LossSetting&) {
  return std::make_unique<EnergyMargin>(spec);
}

}  // namespace openset
