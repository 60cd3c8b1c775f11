#include "losses/points/gcpl.h"

#include "core/logging.h"
#include "core/tensor/torch.h"
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

std::unique_ptr<LossTerm> MakeGcpl() { return std::make_unique<Gcpl>(); }

}  // namespace openset
