#include "losses/gcpl.h"

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class Gcpl : public LossTerm {
 public:
  explicit Gcpl(const GcplSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.known.distance.defined()) << "GCPL needs a head with a point per class";
    return spec_.lambda() / 2 * AtLabel(input.known.distance, input.batch.label).mean();
  }

 private:
  const GcplSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> MakeGcpl(const GcplSpec& spec) { return std::make_unique<Gcpl>(spec); }

}  // namespace openset
