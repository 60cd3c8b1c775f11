// Deep Gamblers (Liu et al., NeurIPS 2019; gambler_loss() and the pretraining of the authors' main.py):
//
//   mean_i -log(p_y + p_last / reward), p = softmax(z);
//
// in the first epochs mean_i -log softmax(z without z_last)_y. At least 0.
#include <cmath>
#include <cstdint>
#include <memory>

#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class DeepGamblers : public LossTerm {
 public:
  explicit DeepGamblers(const DeepGamblersSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    const at::Tensor& logits = input.known.logits;
    const int64_t last = logits.size(1) - 1;
    if (input.epoch < spec_.cross_entropy_epochs()) {
      return MinusAtLabel(at::log_softmax(logits.narrow(1, 0, last), 1), input.batch.label).mean();
    }
    const at::Tensor log_p = at::log_softmax(logits, 1);
    const at::Tensor kept = log_p.select(1, last) - std::log(spec_.reward());
    return -at::logaddexp(AtLabel(log_p, input.batch.label), kept).mean();
  }

 private:
  const DeepGamblersSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const DeepGamblersSpec& spec, const LossSetting&) {
  return std::make_unique<DeepGamblers>(spec);
}

}  // namespace openset
