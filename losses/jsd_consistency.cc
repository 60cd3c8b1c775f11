// Consistency term of AugMix (Hendrycks et al., ICLR 2020): makes the probabilities of an image's views equal.
//
//   mean_v mean_b KL(p_vb || M_b),   M = max(1e-7, mean_v p_v),   p = softmax(z),
//
// where v runs over the batch itself and LossInput.views: the Jensen-Shannon divergence of the views, except for the
// bound 1e-7. Between 0, for equal views, and log(number of views). Gradients flow into all views.
#include <memory>
#include <vector>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"

namespace openset {
namespace {

constexpr double kLeastProbability = 1e-7;

class JsdConsistency : public LossTerm {
 public:
  explicit JsdConsistency(const JsdConsistencySpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.views != nullptr && input.views->size() == spec_.extra_views())
        << "the consistency term needs " << spec_.extra_views() << " more views of the batch";
    std::vector<at::Tensor> views = {input.known.logits};
    for (const ModelOutput& view : *input.views) views.push_back(view.logits);
    const at::Tensor log_p = at::log_softmax(at::stack(views), 2);  // [V, B, K]
    const at::Tensor p = log_p.exp();
    const at::Tensor log_mixture = p.mean(0).clamp(kLeastProbability, 1).log();
    return (p * (log_p - log_mixture)).sum(2).mean();
  }

 private:
  const JsdConsistencySpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const JsdConsistencySpec& spec, const LossSetting&) {
  return std::make_unique<JsdConsistency>(spec);
}

}  // namespace openset
