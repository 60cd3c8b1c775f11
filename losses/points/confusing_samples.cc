#include "losses/points/confusing_samples.h"

#include "core/logging.h"
#include "core/tensor/torch.h"
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

std::unique_ptr<LossTerm> MakeConfusingSamples(const ConfusingSamplesSpec& spec) {
  return std::make_unique<ConfusingSamples>(spec);
}

}  // namespace openset
