#include "eval/metrics/ranked_input.h"

#include <utility>

namespace openset {
namespace {

SampleKind KindOf(const EvaluationInput& input, int64_t sample) {
  if (input.IsUnknown(sample)) return SampleKind::kUnknown;
  if (!input.has_predictions()) return SampleKind::kNotJudged;
  return input.IsCorrect(sample) ? SampleKind::kCorrect : SampleKind::kWrong;
}

void Add(SampleKind kind, uint32_t weight, Tally* tally) {
  switch (kind) {
    case SampleKind::kCorrect:
      tally->correct += weight;
      break;
    case SampleKind::kWrong:
      tally->wrong += weight;
      break;
    case SampleKind::kUnknown:
      tally->unknown += weight;
      break;
    case SampleKind::kNotJudged:
      tally->not_judged += weight;
      break;
  }
}

}  // namespace

RankedInput::RankedInput(const EvaluationInput& input)
    : input_(input), ranking_(std::make_shared<const Ranking>(input.unknown_score())), blocks_(ranking_->num_blocks()) {
  auto samples = std::make_shared<std::vector<RankedSample>>();
  samples->reserve(ranking_->num_samples());
  for (int64_t block = 0; block < ranking_->num_blocks(); ++block) {
    for (const uint32_t sample : ranking_->Block(block)) {
      const SampleKind kind = KindOf(input_, sample);
      const int32_t prediction = input_.has_predictions() ? input_.prediction()[sample] : 0;
      samples->push_back({static_cast<uint32_t>(prediction), static_cast<uint32_t>(kind)});
      Add(kind, 1, &blocks_[block]);
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
