// Confusing samples of ARPL+CS (Chen et al., TPAMI 2021): makes the distances of open samples from all reciprocal
// points equal.
//
//   exp(mean_j weight_j sum_c p_jc log p_jc),   p = softmax(D),
//
// D [U, K] = ModelOutput.distance of the open samples. Between 1 / K, for equal distances, and 1; 0 if no open sample
// counts. Needs LossInput.open. With Entropy RELEASED the value is NaN once a p_jc is 0 in floating point, that is for
// distances in f32 that differ by more than about 104; GUARDED is equal to it up to rounding elsewhere.
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class ConfusingSamples : public LossTerm {
 public:
  explicit ConfusingSamples(const ConfusingSamplesSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "confusing samples need an open-set source";
    const at::Tensor& distance = input.open->output.distance;
    CHECK(distance.defined()) << "confusing samples need a head with a point per class";
    const at::Tensor mean = WeightedMean(NegativeEntropy(distance), input.open->weight);
    return mean.exp() * input.open->weight.sum().sign();  // 0 without samples
  }

 private:
  // sum_c p_c log p_c, [U].
  at::Tensor NegativeEntropy(const at::Tensor& distance) const {
    const at::Tensor p = distance.softmax(1);
    switch (spec_.entropy()) {
      case ConfusingSamplesSpec::RELEASED:
        return (p * p.log()).sum(1);
      case ConfusingSamplesSpec::GUARDED:
        return (p * at::log_softmax(distance, 1)).sum(1);
      case ConfusingSamplesSpec::ENTROPY_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "entropy is unspecified";
  }

  const ConfusingSamplesSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const ConfusingSamplesSpec& spec, const LossSetting&) {
  return std::make_unique<ConfusingSamples>(spec);
}

}  // namespace openset
