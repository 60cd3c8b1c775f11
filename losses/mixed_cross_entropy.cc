// The cross entropy of mixed images: Mixup (Zhang et al. 2018), CutMix (Yun et al. 2019), RegMixup (Pinto et al. 2022),
// MixOE (Zhang et al. 2023), OpenMix (Zhu et al. 2023).
//
//   mean_j share_j * -log p_jy + (1 - share_j) * -log p_jb,
//
// j the open samples, p = softmax(z), y the label of the known sample at slot_j, b = partner_j; for b = -1 the last
// factor is -mean_c log p_jc or, with unknown_is_last_class, -log p of the last output. Weighted by OpenSet.weight; 0
// if none counts. At least 0. Needs LossInput.open with share, partner and slot.
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class MixedCrossEntropy : public LossTerm {
 public:
  explicit MixedCrossEntropy(const MixedCrossEntropySpec& spec) : unknown_is_last_(spec.unknown_is_last_class()) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr && input.open->share.defined()) << "the term needs a source that mixes images";
    const OpenSet& open = *input.open;
    const at::Tensor log_p = at::log_softmax(open.output.logits, 1);
    const at::Tensor own = AtLabel(log_p, input.batch.label.index_select(0, open.slot));
    const at::Tensor of_unknown = unknown_is_last_ ? log_p.select(1, log_p.size(1) - 1) : log_p.mean(1);
    const at::Tensor other = at::where(open.partner.lt(0), of_unknown, AtLabel(log_p, open.partner.clamp_min(0)));
    const at::Tensor share = open.share.to(log_p.scalar_type());
    return WeightedMean(-(share * own + (1 - share) * other), open.weight);
  }

 private:
  const bool unknown_is_last_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const MixedCrossEntropySpec& spec, const LossSetting&) {
  return std::make_unique<MixedCrossEntropy>(spec);
}

}  // namespace openset
