// Open-space term of reciprocal point learning (Chen et al., ECCV 2020): pulls the distance of features from the
// reciprocal point of their class towards a common value.
//
//   mean_b (D_by - R)^2,
//
// D [B, K] = ModelOutput.distance, |x - P_c|^2 / d with d the features' dimensions, y the label, R the learnable
// parameter "radius" [1], which starts at 0: one for all classes, as in the code of ARPL. At least 0.
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

class Rpl : public LossTerm {
 public:
  explicit Rpl(at::Device device) : radius_(at::zeros({1}, device)) { radius_.set_requires_grad(true); }

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.known.distance.defined()) << "RPL needs a head with a point per class";
    const at::Tensor distance = AtLabel(input.known.distance, input.batch.label);
    return (distance - radius_).square().mean();
  }

  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override { return {{"radius", radius_}}; }

 private:
  const at::Tensor radius_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const RplSpec&, const LossSetting& setting) {
  return std::make_unique<Rpl>(setting.device);
}

}  // namespace openset
