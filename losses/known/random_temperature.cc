#include "losses/known/random_temperature.h"

#include "core/tensor/torch.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class RandomTemperature : public LossTerm {
 public:
  explicit RandomTemperature(const RandomTemperatureSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    const at::Tensor& logits = input.known.logits;
    const int64_t last = logits.size(1) - 1;
    const at::Tensor log_p = at::log_softmax(logits.narrow(1, 0, last), 1);
    return -AtLabel(log_p, input.batch.label).mean() + spec_.divergence() * logits.select(1, last).mean();
  }

 private:
  const RandomTemperatureSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> MakeRandomTemperature(const RandomTemperatureSpec& spec) {
  return std::make_unique<RandomTemperature>(spec);
}

}  // namespace openset
