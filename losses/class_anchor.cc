// Class anchor clustering (Miller et al., WACV 2021): pulls logits towards the anchor of their class.
//
//   mean_b log(1 + sum_{c != y} exp(d_y - d_c)) + attraction d_y,   d_c = |z - anchor e_c|_2,
//
// z [B, K] the logits, e_c the c-th unit vector, y the label. At least 0. Its score is `class_anchor`.
//
// As in the authors' code (dimitymiller/cac-openset). pytorch-ood 0.4.0 squares the distances, clips the exponents at
// 50, and excludes the last class from the sum instead of y, which adds a constant exp(0) for each other y.
#include <memory>

#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class ClassAnchor : public LossTerm {
 public:
  explicit ClassAnchor(const ClassAnchorSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    const at::Tensor& logits = input.known.logits;
    const at::Tensor anchor = spec_.anchor() * at::eye(logits.size(1), logits.options());
    // Differentiable at an anchor too: the gradient of the norm is 0 there.
    const at::Tensor distance = at::norm(logits.unsqueeze(1) - anchor.unsqueeze(0), 2, 2, /*keepdim=*/false);
    const at::Tensor own = AtLabel(distance, input.batch.label);
    // The sum over all c, of which y gives the 1.
    const at::Tensor tuplet = (own.unsqueeze(1) - distance).logsumexp(1);
    return (tuplet + spec_.attraction() * own).mean();
  }

 private:
  const ClassAnchorSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const ClassAnchorSpec& spec, const LossSetting&) {
  return std::make_unique<ClassAnchor>(spec);
}

}  // namespace openset
