#include "losses/outliers/objectosphere.h"

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class Objectosphere : public LossTerm {
 public:
  explicit Objectosphere(const ObjectosphereSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "the objectosphere loss needs an open-set source";
    const ModelOutput& outside = input.open->output;
    at::Tensor known = -AtLabel(at::log_softmax(input.known.logits, 1), input.batch.label);
    at::Tensor open = -at::log_softmax(outside.logits, 1).mean(1);
    if (spec_.feature_weight() > 0) {
      const at::Tensor missing = (spec_.known_length() - input.known.feature.norm(2, 1)).clamp_min(0);
      known = known + spec_.feature_weight() * missing.square();
      open = open + spec_.feature_weight() * outside.feature.square().sum(1);
    }
    return WeightedMean(at::cat({known, open}),
                        at::cat({at::ones_like(known), input.open->weight.to(known.scalar_type())}));
  }

 private:
  const ObjectosphereSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> MakeObjectosphere(const ObjectosphereSpec& spec) {
  return std::make_unique<Objectosphere>(spec);
}

}  // namespace openset
