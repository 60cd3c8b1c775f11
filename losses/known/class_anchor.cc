#include "losses/known/class_anchor.h"

#include "core/tensor/torch.h"
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

std::unique_ptr<LossTerm> MakeClassAnchor(const ClassAnchorSpec& spec) { return std::make_unique<ClassAnchor>(spec); }

}  // namespace openset
