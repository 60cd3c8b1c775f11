// Placeholders of PROSER (Zhou et al., CVPR 2021): the last output represents the unknown.
//
//   mean_i -log p^{-y_i}_i,last + open_weight * (sum_j weight_j -log p_j,last) / sum_j weight_j,   p = softmax(z),
//
// where i are the known samples and j the open samples. p^{-y} is the softmax without the sample's own class; the first
// mean makes the last output the second largest (classifier placeholder, Eq. 4). The second mean (data placeholder,
// Eq. 6) is 0 if no open sample counts. At least 0. Needs LossInput.open and a head with an extra output. As in the
// authors' code (CVPR21-Proser, proser_unknown_detection.py) with one dummy classifier, its default.
#include <limits>
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class Placeholder : public LossTerm {
 public:
  explicit Placeholder(const PlaceholderSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "placeholders need an open-set source";
    const at::Tensor& known = input.known.logits;
    const at::Tensor others = WithoutLabel(known, input.batch.label, -std::numeric_limits<double>::infinity());
    return Surprise(others).mean() +
           spec_.open_weight() * WeightedMean(Surprise(input.open->output.logits), input.open->weight);
  }

 private:
  // -log softmax(z)_last of each row.
  static at::Tensor Surprise(const at::Tensor& logits) {
    return logits.logsumexp(1) - logits.select(1, logits.size(1) - 1);
  }

  const PlaceholderSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const PlaceholderSpec& spec, const LossSetting&) {
  return std::make_unique<Placeholder>(spec);
}

}  // namespace openset
