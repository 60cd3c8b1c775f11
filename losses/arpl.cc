// Adversarial margin of ARPL (Chen et al., TPAMI 2021): bounds the distance of features from the reciprocal point of
// their class.
//
//   mean_b max(0, D_by - R + margin),
//
// D [B, K] = ModelOutput.distance, |x - P_c|^2 / d with d the features' dimensions, y the label, R the learnable
// parameter "radius" [1], which starts at 0. At least 0.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class Arpl : public LossTerm {
 public:
  Arpl(const ArplSpec& spec, at::Device device) : spec_(spec), radius_(at::zeros({1}, device)) {
    radius_.set_requires_grad(true);
  }

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.known.distance.defined()) << "ARPL needs a head with a point per class";
    const at::Tensor distance = AtLabel(input.known.distance, input.batch.label);
    return (distance - radius_ + spec_.margin()).clamp_min(0).mean();
  }

  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override { return {{"radius", radius_}}; }

 private:
  const ArplSpec spec_;
  const at::Tensor radius_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const ArplSpec& spec, const LossSetting& setting) {
  return std::make_unique<Arpl>(spec, setting.device);
}

}  // namespace openset
