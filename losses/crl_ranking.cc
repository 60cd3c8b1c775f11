// Correctness ranking loss (Moon et al., ICML 2020): ranks confidences by how often the samples have been classified
// correctly so far.
//
//   mean_i max(0, -t_i (k_i - k_j) + |c_i - c_j|),   j = i + 1 mod B,
//
// where k = max_c softmax(z)_c, and c is the share of epochs in which the sample was classified correctly, as
// CrlRankingSpec.Variant defines it. In the variant ORIGINAL, t_i = sign(c_i - c_j), so that pairs with equal c cost
// nothing (once all samples have been correct in every epoch, all c are equal). In UNIFIED_BENCHMARK, t_i is 1 for
// c_i > c_j; for c_i < c_j it is -1, but 1 if k_i = k_j (the gradient then has the wrong sign); for c_i = c_j it is -1
// if k_i > k_j and 1 otherwise, so that such a pair costs |k_i - k_j|.
//
// No gradient flows through t. Depends on the cyclic order of the batch. At least 0, and 0 for a batch of one. Needs
// LossInput.history.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

at::Tensor NextInBatch(const at::Tensor& rows) { return rows.roll(-1); }

class CrlRanking : public LossTerm {
 public:
  explicit CrlRanking(const CrlRankingSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.history != nullptr) << "the ranking loss needs the samples' history";
    const at::Tensor k_i = LargestOf(input.known.logits.softmax(1));
    const at::Tensor k_j = NextInBatch(k_i);
    const at::Tensor c_i = Correctness(input).to(k_i.scalar_type());
    const at::Tensor c_j = NextInBatch(c_i);
    const at::Tensor t = Target(c_i, c_j, k_i.detach(), k_j.detach());
    return ((c_i - c_j).abs() - t * (k_i - k_j)).clamp_min(0).mean();
  }

 private:
  // f64 [B].
  at::Tensor Correctness(const LossInput& input) const {
    const SampleHistory& history = *input.history;
    const at::Tensor count = history.correct.index_select(0, input.batch.sample).to(at::kDouble);
    switch (spec_.variant()) {
      case CrlRankingSpec::ORIGINAL: {
        const at::Tensor least = history.correct.min();
        const at::Tensor range = std::max<int64_t>(1, history.epochs) - least;
        return (count - least) / (range + range.eq(0));
      }
      case CrlRankingSpec::UNIFIED_BENCHMARK:
        return count / input.epochs;
      case CrlRankingSpec::VARIANT_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "variant is unspecified";
  }

  at::Tensor Target(const at::Tensor& c_i, const at::Tensor& c_j, const at::Tensor& k_i, const at::Tensor& k_j) const {
    switch (spec_.variant()) {
      case CrlRankingSpec::ORIGINAL:
        return (c_i - c_j).sign();
      case CrlRankingSpec::UNIFIED_BENCHMARK: {
        const at::Tensor negative = (c_i.lt(c_j) & k_i.ne(k_j)) | (c_i.eq(c_j) & k_i.gt(k_j));
        return 1 - 2 * negative.to(k_i.scalar_type());
      }
      case CrlRankingSpec::VARIANT_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "variant is unspecified";
  }

  const CrlRankingSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const CrlRankingSpec& spec, const LossSetting&) {
  return std::make_unique<CrlRanking>(spec);
}

}  // namespace openset
