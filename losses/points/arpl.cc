#include "losses/points/arpl.h"

#include <string>
#include <utility>
#include <vector>

#include "core/logging.h"
#include "core/tensor/torch.h"
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

std::unique_ptr<LossTerm> MakeArpl(const ArplSpec& spec, at::Device device) {
  return std::make_unique<Arpl>(spec, device);
}

}  // namespace openset
