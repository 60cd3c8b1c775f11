#include "losses/known/confidence_branch.h"

#include <string>
#include <utility>
#include <vector>

#include "core/tensor/torch.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class ConfidenceBranch : public LossTerm {
 public:
  ConfidenceBranch(const ConfidenceBranchSpec& spec, at::Device device)
      : budget_(spec.budget()), weight_(at::full({}, spec.weight(), at::TensorOptions(at::kDouble).device(device))) {}

  at::Tensor Compute(const LossInput& input) override {
    const at::Tensor& logits = input.known.logits;
    const double e = logits.scalar_type() == at::kDouble ? 1e-12 : 1e-7;
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

std::unique_ptr<LossTerm> MakeConfidenceBranch(const ConfidenceBranchSpec& spec, at::Device device) {
  return std::make_unique<ConfidenceBranch>(spec, device);
}

}  // namespace openset
