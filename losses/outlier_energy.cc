// Energy term of VOS (Du et al., ICLR 2022): separates known from open samples by a logistic regression on their
// energy.
//
//   (sum_i -log q_1(E_i) + sum_j weight_j -log q_0(E_j)) / (B + sum_j weight_j),   q(E) = softmax(a E + b),
//   E = log sum_c max(0, w_c) exp(z_c),
//
// i the known samples, j the open ones; parameters w [K] ("energy"), from U(0, 1), a and b [2] ("slope" and "offset"),
// from U(-1, 1), as PyTorch draws them. 0 if no open sample counts. At least 0. Needs LossInput.open. As in the
// authors' code (deeplearning-wisc/vos, CIFAR/train_virtual.py), where E has the sign of our confidence. OpenOOD's
// trainer draws w again for each batch and passes E through Python lists, so that its term has no gradient with respect
// to the network.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/logging.h"
#include "core/random.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class OutlierEnergy : public LossTerm {
 public:
  explicit OutlierEnergy(const LossSetting& setting) {
    RandomStream random(setting.seed, "loss.outlier_energy");
    energy_ = DrawParameter({setting.classes}, setting.device, [&] { return random.Uniform(); });
    slope_ = DrawParameter({2}, setting.device, [&] { return random.Uniform(-1, 1); });
    offset_ = DrawParameter({2}, setting.device, [&] { return random.Uniform(-1, 1); });
  }

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "the outlier energy needs an open-set source";
    const at::Tensor known = -LogProbability(input.known.logits).select(1, 1);
    const at::Tensor open = -LogProbability(input.open->output.logits).select(1, 0);
    const at::Tensor weight = input.open->weight.to(known.scalar_type());
    return WeightedMean(at::cat({known, open}), at::cat({at::ones_like(known), weight})) * weight.sum().gt(0);
  }

  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override {
    return {{"energy", energy_}, {"slope", slope_}, {"offset", offset_}};
  }

 private:
  at::Tensor LogProbability(const at::Tensor& logits) const {
    const at::Tensor largest = logits.amax(1, /*keepdim=*/true).detach();
    const at::Tensor sum = ((logits - largest).exp() * energy_.relu()).sum(1, /*keepdim=*/true);
    // A floor, so that the value stays finite if all weights that contribute to it are 0.
    const at::Tensor energy = largest + sum.clamp_min(1e-30).log();
    return at::log_softmax(energy * slope_ + offset_, 1);
  }

  at::Tensor energy_, slope_, offset_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const OutlierEnergySpec&, const LossSetting& setting) {
  return std::make_unique<OutlierEnergy>(setting);
}

}  // namespace openset
