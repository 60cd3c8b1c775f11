#include "losses/outliers/placeholder.h"

#include <limits>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class Placeholder : public LossTerm {
 public:
  explicit Placeholder(const PlaceholderSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "placeholders need an open-set source";
    const at::Tensor& known = input.known.logits;
    const at::Tensor others =
        known.scatter(1, input.batch.label.unsqueeze(1), -std::numeric_limits<double>::infinity());
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

std::unique_ptr<LossTerm> MakePlaceholder(const PlaceholderSpec& spec) { return std::make_unique<Placeholder>(spec); }

}  // namespace openset
