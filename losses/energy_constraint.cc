// SCONE (Bai et al., ICML 2023), which is WOODS with a margin: separates wild from known samples by their energy, under
// the constraints that few known samples are classified as wild and that the cross entropy stays low. With
// C = logsumexp_c z_c and u(C) = sigmoid(a C + b),
//
//   (sum_j weight_j (1 - u(C_j - margin))) / sum_j weight_j + P(mean_i u(C_i) - false_alarm; l_1, w_1)
//                                          + P(mean_i -log p_i,y - limit * reference; l_2, w_2),
//   P(g; l, w) = l g + w/2 g^2 where w g + l >= 0, else -l^2 / (2 w)       (augmented Lagrangian),
//
// i the known samples, j the open ones, which are the wild ones. Parameters a and b ("slope", "offset") from U(-1, 1),
// as PyTorch draws them. Multipliers l start at 0, weights w at 1. After an epoch, with G the mean of g over its steps,
// l becomes l + rate G if w G + l >= 0 and otherwise l - rate l / w, and w grows by `penalty_growth` if G > 0.
// `reference` is the mean cross entropy over the steps of the first epoch; during that epoch, over the steps so far.
// The term replaces the cross entropy. The first part is 0 if no open sample counts. Needs LossInput.open.
//
// As in the authors' code (deeplearning-wisc/scone, CIFAR/train.py), except that there the means after an epoch, and
// the reference before the first epoch, are computed over the training samples with the network in evaluation mode, and
// that there both multipliers are one tensor (lam2 = lam.cuda()), which both constraints move; the paper has two.
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

// P in the header.
at::Tensor Penalty(const at::Tensor& gap, const at::Tensor& multiplier, const at::Tensor& weight) {
  const at::Tensor active = multiplier * gap + weight / 2 * gap.square();
  return at::where((weight * gap + multiplier).ge(0), active, -multiplier.square() / (2 * weight));
}

class EnergyConstraint : public LossTerm {
 public:
  EnergyConstraint(const EnergyConstraintSpec& spec, const LossSetting& setting) : spec_(spec) {
    RandomStream random(setting.seed, "loss.energy_constraint");
    slope_ = DrawParameter({1}, setting.device, [&] { return random.Uniform(-1, 1); });
    offset_ = DrawParameter({1}, setting.device, [&] { return random.Uniform(-1, 1); });
    const at::TensorOptions number = at::TensorOptions(at::kDouble).device(setting.device);
    now_ = {at::zeros({2}, number), at::ones({2}, number), at::full({}, -1, number), at::zeros({}, number),
            at::zeros({3}, number)};
  }

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "the energy constraint needs an open-set source";
    const at::Tensor alarm = Unknown(input.known.logits, 0).mean();
    const at::Tensor entropy = MinusAtLabel(at::log_softmax(input.known.logits, 1), input.batch.label).mean();
    const at::Tensor missed = 1 - Unknown(input.open->output.logits, spec_.margin());
    next_ = At(input.epoch);
    next_.sums = next_.sums + at::stack({alarm, entropy, at::ones_like(alarm)}).detach().to(at::kDouble);
    const at::Tensor reference = at::where(next_.reference.lt(0), next_.sums[1] / next_.sums[2], next_.reference);
    const at::Tensor gap = Gaps(alarm, entropy, reference.to(alarm.scalar_type()));
    const at::Tensor penalty = Penalty(gap, next_.multiplier.to(gap.scalar_type()), next_.weight.to(gap.scalar_type()));
    return WeightedMean(missed, input.open->weight) + penalty.sum();
  }

  void EndStep() override {
    if (!next_.sums.defined()) return;
    now_.multiplier.copy_(next_.multiplier);
    now_.weight.copy_(next_.weight);
    now_.reference.copy_(next_.reference);
    now_.epoch.copy_(next_.epoch);
    now_.sums.copy_(next_.sums);
    next_ = {};
  }

  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override {
    return {{"slope", slope_}, {"offset", offset_}};
  }
  std::vector<std::pair<std::string, at::Tensor>> State() const override {
    return {{"multiplier", now_.multiplier},
            {"weight", now_.weight},
            {"reference", now_.reference},
            {"epoch", now_.epoch},
            {"sums", now_.sums}};
  }

 private:
  struct Constraints {
    at::Tensor multiplier, weight, reference, epoch, sums;
  };

  // u(C - margin) of each row.
  at::Tensor Unknown(const at::Tensor& logits, double margin) const {
    return ((logits.logsumexp(1) - margin) * slope_ + offset_).sigmoid();
  }

  at::Tensor Gaps(const at::Tensor& alarm, const at::Tensor& entropy, const at::Tensor& reference) const {
    return at::stack({alarm - spec_.false_alarm(), entropy - spec_.cross_entropy_limit() * reference});
  }

  // The constraints in this epoch: if now_ is from an earlier epoch, updated by the steps of that epoch.
  Constraints At(int64_t epoch) const {
    const at::Tensor ended = now_.epoch.lt(static_cast<double>(epoch)).logical_and(now_.sums[2].gt(0));
    const at::Tensor mean = now_.sums / now_.sums[2].clamp_min(1);
    const at::Tensor reference = at::where(ended.logical_and(now_.reference.lt(0)), mean[1], now_.reference);
    const at::Tensor gap = Gaps(mean[0], mean[1], reference);
    const at::Tensor &l = now_.multiplier, &w = now_.weight;
    const double rate = spec_.multiplier_rate();
    const at::Tensor moved = at::where((w * gap + l).ge(0), l + rate * gap, l - rate * l / w);
    return {at::where(ended, moved, l), at::where(ended.logical_and(gap.gt(0)), w * spec_.penalty_growth(), w),
            reference, at::full_like(now_.epoch, static_cast<double>(epoch)), now_.sums * ended.logical_not()};
  }

  const EnergyConstraintSpec spec_;
  at::Tensor slope_, offset_;
  Constraints now_;
  Constraints next_;  // after the current step
};

}  // namespace

std::unique_ptr<LossTerm> Make(const EnergyConstraintSpec& spec, const LossSetting& setting) {
  return std::make_unique<EnergyConstraint>(spec, setting);
}

}  // namespace openset
