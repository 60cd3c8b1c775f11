// Centre loss (Wen et al., ECCV 2016): pulls features towards a learnt centre of their class.
//
//   mean_b |x - c_y|^2 / 2,
//
// x [B, D] the features, y the label, c [K, D] the term's parameter "centre", from N(0, 1). At least 0. For heads of
// any kind: GcplSpec has the same form with the points of a prototype head, divided by D.
//
// The paper updates the centres by a separate rule; here, as in public PyTorch code, the model's optimiser does.
// pytorch-ood 0.4.0 divides by the number of classes as well, and by 1 instead of 2.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class Centre : public LossTerm {
 public:
  explicit Centre(const LossSetting& setting) {
    RandomStream random(setting.seed, "loss.centre");
    centre_ = DrawParameter({setting.classes, setting.features}, setting.device, [&] { return random.Normal(); });
  }

  at::Tensor Compute(const LossInput& input) override {
    return (input.known.feature - RowsAt(centre_, input.batch.label)).square().sum(1).mean() / 2;
  }

  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override { return {{"centre", centre_}}; }

 private:
  at::Tensor centre_;  // [K, D]
};

}  // namespace

std::unique_ptr<LossTerm> Make(const CentreSpec&, const LossSetting& setting) {
  return std::make_unique<Centre>(setting);
}

}  // namespace openset
