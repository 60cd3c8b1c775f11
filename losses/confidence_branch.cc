// Confidence branch (DeVries and Taylor 2018): the network may ask for hints about the label, at a cost.
//
//   mean_b -log(k_b p_by + 1 - k_b) + w mean_b -log k_b,
//
// p = softmax of all logits but the last, k = sigmoid of the last one, both kept within [e, 1 - e], e = 1e-12 (in f32,
// 1 - 1e-12 is 1). In the first mean, k_b = 1 for samples at odd indices of the batch (from 0), so that half of the
// samples get no hints. w starts at spec.weight and is the term's state "weight": after each step it is divided
// by 1.01 if the second mean is below the budget, and by 0.99 otherwise. At least 0.
//
// The authors' code and OpenOOD select the half at random; here the index decides, because a batch is in random order.
// The score is `extra_output { value: NEGATED }`.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class ConfidenceBranch : public LossTerm {
 public:
  ConfidenceBranch(const ConfidenceBranchSpec& spec, at::Device device)
      : budget_(spec.budget()), weight_(at::full({}, spec.weight(), at::TensorOptions(at::kDouble).device(device))) {}

  at::Tensor Compute(const LossInput& input) override {
    const at::Tensor& logits = input.known.logits;
    constexpr double e = 1e-12;
    const int64_t last = logits.size(1) - 1;
    const at::Tensor p = at::softmax(logits.narrow(1, 0, last), 1).clamp(e, 1 - e);
    const at::Tensor confidence = logits.select(1, last).sigmoid().clamp(e, 1 - e);
    const at::Tensor asks = at::arange(logits.size(0), input.batch.label.options()).remainder(2).eq(0);
    const at::Tensor used = at::where(asks, confidence, at::ones_like(confidence));
    const at::Tensor answer = (AtLabel(p, input.batch.label) * used + (1 - used)).log();
    const at::Tensor price = -confidence.log().mean();
    price_ = price.detach();
    return -answer.mean() + weight_.to(price.scalar_type()) * price;
  }

  void EndStep() override {
    if (price_.defined())
      weight_.div_(at::where(price_.lt(budget_), at::full_like(weight_, 1.01), at::full_like(weight_, 0.99)));
    price_ = at::Tensor();
  }

  std::vector<std::pair<std::string, at::Tensor>> State() const override { return {{"weight", weight_}}; }

 private:
  const double budget_;
  const at::Tensor weight_;
  at::Tensor price_;  // of the current step
};

}  // namespace

std::unique_ptr<LossTerm> Make(const ConfidenceBranchSpec& spec, const LossSetting& setting) {
  return std::make_unique<ConfidenceBranch>(spec, setting.device);
}

}  // namespace openset
