#include "eval/metrics/ranked_input.h"

#include <utility>
#include <vector>

namespace openset {
namespace {

SampleKind KindOf(const EvaluationInput& input, int64_t sample) {
  if (input.IsUnknown(sample)) return SampleKind::kUnknown;
  if (!input.has_predictions()) return SampleKind::kNotJudged;
  return input.IsCorrect(sample) ? SampleKind::kCorrect : SampleKind::kWrong;
}

// Without branches: which kind comes next, nothing tells.
void Add(SampleKind kind, uint32_t weight, Tally* tally) {
  tally->correct += kind == SampleKind::kCorrect ? weight : 0;
  tally->wrong += kind == SampleKind::kWrong ? weight : 0;
  tally->unknown += kind == SampleKind::kUnknown ? weight : 0;
  tally->not_judged += kind == SampleKind::kNotJudged ? weight : 0;
}

}  // namespace

RankedInput::RankedInput(const EvaluationInput& input)
    : input_(input), ranking_(std::make_shared<const Ranking>(input.unknown_score())), blocks_(ranking_->num_blocks()) {
  // In the order of the input first, so that a place of the ranking is one look-up.
  const int64_t n = ranking_->num_samples();
  std::vector<RankedSample> by_sample(n);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t prediction = input_.has_predictions() ? input_.prediction()[i] : 0;
    by_sample[i] = {static_cast<uint32_t>(prediction), static_cast<uint32_t>(KindOf(input_, i))};
  }
  auto samples = std::make_shared<std::vector<RankedSample>>(n);
  for (int64_t block = 0; block < ranking_->num_blocks(); ++block) {
    for (int64_t place = ranking_->BlockBegin(block); place < ranking_->BlockBegin(block + 1); ++place) {
      const RankedSample sample = by_sample[ranking_->order()[place]];
      (*samples)[place] = sample;
      Add(sample.kind(), 1, &blocks_[block]);
    }
  }
  samples_ = std::move(samples);
  if (!input.logits().empty()) softmax_ = std::make_shared<const SoftmaxSummary>(input);
  Sum();
}

void RankedInput::Reweight(absl::Span<const uint32_t> weight) {
  weight_.assign(weight.begin(), weight.end());
  if (cell_ == nullptr) {
    auto cell = std::make_shared<std::vector<uint32_t>>(weight.size());
    for (int64_t block = 0; block < ranking_->num_blocks(); ++block) {
      for (int64_t place = ranking_->BlockBegin(block); place < ranking_->BlockBegin(block + 1); ++place) {
        (*cell)[ranking_->order()[place]] = 4 * block + (*samples_)[place].kind_bits;
      }
    }
    cell_ = std::move(cell);
  }
  blocks_.assign(blocks_.size(), Tally());
  const std::vector<uint32_t>& cell = *cell_;
  for (size_t i = 0; i < weight.size(); ++i)
    Add(static_cast<SampleKind>(cell[i] % 4), weight[i], &blocks_[cell[i] / 4]);
  Sum();
}

void RankedInput::Sum() {
  total_ = Tally();
  for (const Tally& tally : blocks_) total_ += tally;
}

}  // namespace openset
