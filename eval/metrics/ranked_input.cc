#include "eval/metrics/ranked_input.h"

#include <utility>
#include <vector>

#include "core/in_parallel.h"

namespace openset {
namespace {

RankedSample SampleAt(const EvaluationInput& input, int64_t i) {
  const int32_t label = input.label()[i];
  const int32_t prediction = input.has_predictions() ? input.prediction()[i] : 0;
  const SampleKind judged = label == prediction ? SampleKind::kCorrect : SampleKind::kWrong;
  const SampleKind known = input.has_predictions() ? judged : SampleKind::kNotJudged;
  const SampleKind kind = label == kUnknownLabel ? SampleKind::kUnknown : known;
  return {static_cast<uint32_t>(prediction), static_cast<uint32_t>(kind), label};
}

// Without branches, because the processor can't predict the kind of the next sample.
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
  InParallelRanges(n, kRankingPiece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) by_sample[i] = SampleAt(input_, i);
  });
  auto samples = std::make_shared<std::vector<RankedSample>>(n);
  const absl::Span<const uint32_t> order = ranking_->order();
  InParallelRanges(ranking_->num_blocks(), kRankingPiece, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      Tally tally;
      for (int64_t place = ranking_->BlockBegin(block); place < ranking_->BlockBegin(block + 1); ++place) {
        const RankedSample sample = by_sample[order[place]];
        (*samples)[place] = sample;
        Add(sample.kind(), 1, &tally);
      }
      blocks_[block] = tally;
    }
  });
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

std::vector<int64_t> SamplesOfClasses(const RankedInput& ranked) {
  const absl::Span<const int32_t> label = ranked.input().label();
  // Unknown samples are counted before the classes, which avoids a branch that the processor can't predict.
  std::vector<int64_t> samples(1 + ranked.input().num_classes());
  static_assert(kUnknownLabel == -1);
  for (size_t i = 0; i < label.size(); ++i) samples[1 + label[i]] += ranked.weight(static_cast<int64_t>(i));
  samples.erase(samples.begin());
  return samples;
}

void RankedInput::Sum() {
  total_ = Tally();
  for (const Tally& tally : blocks_) total_ += tally;
}

}  // namespace openset
