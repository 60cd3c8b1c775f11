// Prototype term of GCPL (Yang et al., CVPR 2018): pulls features towards the prototype of their class.
//
//   mean_b D_by / 2,
//
// D [B, K] = ModelOutput.distance, |x - P_c|^2 / d with d the features' dimensions, y the label: half the mean square
// of x - P_y over samples and dimensions, as in the code of ARPL. At least 0.
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class Gcpl : public LossTerm {
 public:
  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.known.distance.defined()) << "GCPL needs a head with a point per class";
    return AtLabel(input.known.distance, input.batch.label).mean() / 2;
  }
};

}  // namespace

std::unique_ptr<LossTerm> Make(const GcplSpec&, const LossSetting&) { return std::make_unique<Gcpl>(); }

}  // namespace openset
