#include "losses/points/rpl.h"

#include <string>
#include <utility>
#include <vector>

#include "core/logging.h"
#include "core/tensor/torch.h"
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

std::unique_ptr<LossTerm> MakeRpl(at::Device device) { return std::make_unique<Rpl>(device); }

}  // namespace openset
