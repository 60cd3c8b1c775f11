// Loss of random temperature scaling (RTS, Shang et al., AAAI 2023), for the head of the same name
// (models/heads/random_temperature.cc), which gives it logits of a random temperature and, last, a divergence d:
//
//   mean_i -log softmax(z without z_last)_y + divergence * mean_i z_last.
//
// At least 0, up to the 1e-8 in d. As in OpenOOD's rts_trainer.py, which also clips gradients to a norm of 2.5.
#include <cstdint>
#include <memory>

#include "core/tensor/torch.h"
#include "losses/loss_members.h"
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
    return MinusAtLabel(log_p, input.batch.label).mean() + spec_.divergence() * logits.select(1, last).mean();
  }

 private:
  const RandomTemperatureSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const RandomTemperatureSpec& spec, const LossSetting&) {
  return std::make_unique<RandomTemperature>(spec);
}

}  // namespace openset
