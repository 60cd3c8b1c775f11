#include "losses/energy_margin.h"

#include "core/logging.h"
#include "core/tensor/torch.h"
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

std::unique_ptr<LossTerm> MakeEnergyMargin(const EnergyMarginSpec& spec) {
  return std::make_unique<EnergyMargin>(spec);
}

}  // namespace openset
