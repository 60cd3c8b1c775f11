// The pairwise term of OpenAUC (Wang et al., NeurIPS 2022, Eq. 15 and 17): the AUC risk of unknown above known, for the
// known samples that are classified correctly.
//
//   mean over pairs (i, j) of  keep_i * weight_j * l(r_j - r_i),
//
// where i is a known and j an open sample, r the unknown score (larger = more unknown), and l the surrogate loss.
// keep_i is 1 if the label of sample i has the largest logit (the first of equal ones), or with include_misclassified,
// and otherwise 0; no gradient flows through it. Gradients flow into both scores, through the largest logit of each.
//
// Pairs: all (i, j), or each open sample with the known sample at its slot (OpenSet.slot).
// Mean:  over the pairs with keep_i weight_j = 1, or over those with weight_j = 1; 0 if there are none.
//
// All outputs count as classes in r and in keep: not for heads with an output for the unknown. Needs LossInput.open.
// At least 0. All pairs cost O(B + U) with the square surrogate, O(B U) with the others.
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class OpenAuc : public LossTerm {
 public:
  explicit OpenAuc(const OpenAucSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "the OpenAUC term needs an open-set source";
    const at::Tensor known = UnknownScore(input.known.logits);
    const at::Tensor open = UnknownScore(input.open->output.logits);
    const at::Tensor weight = input.open->weight.to(open.scalar_type());
    const at::Tensor keep = spec_.include_misclassified()
                                ? at::ones_like(known)
                                : input.known.logits.argmax(1).eq(input.batch.label).to(known.scalar_type());
    return MeanOverPairs(known, keep, open, weight, input.open->slot);
  }

 private:
  at::Tensor UnknownScore(const at::Tensor& logits) const {
    switch (spec_.unknown_score()) {
      case OpenAucSpec::NEGATIVE_MAX_LOGIT:
        return MinusLargestOf(logits);
      case OpenAucSpec::MIN_MISCLASSIFICATION:
        return 1 + MinusLargestOf(logits.softmax(1));
      case OpenAucSpec::NEGATIVE_MAX_NORMALISED_LOGIT:
        return MinusLargestOf(logits) / logits.norm(2, 1).clamp_min(1e-12);
      case OpenAucSpec::NEGATIVE_MAX_CENTRED_LOGIT:
        return logits.mean(1) + MinusLargestOf(logits);
      case OpenAucSpec::UNKNOWN_SCORE_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "unknown_score is unspecified";
  }

  at::Tensor Surrogate(const at::Tensor& t) const {
    switch (spec_.surrogate()) {
      case OpenAucSpec::SQUARE:
        return (1 - t).square();
      case OpenAucSpec::HINGE:
        return (1 - t).clamp_min(0);
      case OpenAucSpec::SQUARED_HINGE:
        return (1 - t).clamp_min(0).square();
      case OpenAucSpec::LOGISTIC:
        return -at::log_sigmoid(t);
      case OpenAucSpec::SURROGATE_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "surrogate is unspecified";
  }

  at::Tensor MeanOverPairs(const at::Tensor& known, const at::Tensor& keep, const at::Tensor& open,
                           const at::Tensor& weight, const at::Tensor& slot) const {
    switch (spec_.pairs()) {
      case OpenAucSpec::SAME_SLOT: {
        CHECK(slot.defined()) << "the open-set source has no pairs of the same slot";
        const at::Tensor keep_at_slot = keep.index_select(0, slot);
        const at::Tensor value = Surrogate(open - RowsAt(known.unsqueeze(1), slot).squeeze(1));
        return FromKeptPairs(WeightedMean(value, keep_at_slot * weight), keep_at_slot, weight);
      }
      case OpenAucSpec::ALL: {
        const at::Tensor mean = spec_.surrogate() == OpenAucSpec::SQUARE
                                    ? MeanSquareByMoments(known, keep, open, weight)
                                    : MeanOverGrid(known, keep, open, weight);
        return FromKeptPairs(mean, keep, at::ones_like(keep));
      }
      case OpenAucSpec::PAIRS_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "pairs is unspecified";
  }

  // The requested mean, computed from the mean over kept pairs.
  at::Tensor FromKeptPairs(const at::Tensor& mean, const at::Tensor& keep, const at::Tensor& weight) const {
    switch (spec_.mean()) {
      case OpenAucSpec::KEPT_PAIRS:
        return mean;
      case OpenAucSpec::ALL_PAIRS:
        return mean * WeightedMean(keep, weight);
      case OpenAucSpec::MEAN_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "mean is unspecified";
  }

  at::Tensor MeanOverGrid(const at::Tensor& known, const at::Tensor& keep, const at::Tensor& open,
                          const at::Tensor& weight) const {
    const at::Tensor t = open.unsqueeze(0) - known.unsqueeze(1);
    return WeightedMean(Surrogate(t).flatten(), at::outer(keep, weight).flatten());
  }

  // mean_ij (1 - (r_j - r_i))^2 = (1 - (mean_j r_j - mean_i r_i))^2 + var_j r_j + var_i r_i: a sum without
  // cancellation. Only differences of scores count, so the mean score of the known samples is subtracted from all,
  // which keeps the means precise too.
  static at::Tensor MeanSquareByMoments(const at::Tensor& known, const at::Tensor& keep, const at::Tensor& open,
                                        const at::Tensor& weight) {
    const WeightedMeans of_known(keep), of_open(weight);
    const at::Tensor amid = of_known.Of(known.detach());
    const at::Tensor i = known - amid;
    const at::Tensor j = open - amid;
    const at::Tensor i_mean = of_known.Of(i);
    const at::Tensor j_mean = of_open.Of(j);
    const at::Tensor mean =
        (1 - (j_mean - i_mean)).square() + of_known.Of((i - i_mean).square()) + of_open.Of((j - j_mean).square());
    return mean * (of_known.total() * of_open.total()).sign();  // 0 without pairs
  }

  const OpenAucSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const OpenAucSpec& spec, const LossSetting&) { return std::make_unique<OpenAuc>(spec); }

}  // namespace openset
