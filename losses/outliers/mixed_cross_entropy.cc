#include "losses/outliers/mixed_cross_entropy.h"

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class MixedCrossEntropy : public LossTerm {
 public:
  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr && input.open->share.defined()) << "the term needs a source that mixes images";
    const OpenSet& open = *input.open;
    const at::Tensor log_p = at::log_softmax(open.output.logits, 1);
    const at::Tensor own = AtLabel(log_p, input.batch.label.index_select(0, open.slot));
    const at::Tensor other = at::where(open.partner.lt(0), log_p.mean(1), AtLabel(log_p, open.partner.clamp_min(0)));
    const at::Tensor share = open.share.to(log_p.scalar_type());
    return WeightedMean(-(share * own + (1 - share) * other), open.weight);
  }
};

}  // namespace

std::unique_ptr<LossTerm> MakeMixedCrossEntropy() { return std::make_unique<MixedCrossEntropy>(); }

}  // namespace openset
