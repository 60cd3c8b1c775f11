// The data from which all metrics are computed: the samples, their order by unknown score, summaries of their softmax,
// and the counts of each kind per score.
#ifndef OPENSET_EVAL_METRICS_RANKED_INPUT_H_
#define OPENSET_EVAL_METRICS_RANKED_INPUT_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/evaluation_input.h"

namespace openset {

// ---- Sorts positions by a floating-point key.

// The positions 0 .. N-1 by ascending key; positions with equal keys (0 and -0 are equal) are ascending. A radix sort
// over the first 33 bits in which keys differ, followed by comparisons of keys that are equal so far; 33 bits suffice
// for keys that were floats of one sign. Needs at most 20 bytes per key, including the result. Preconditions: no key is
// NaN, N < 2^31.
std::vector<uint32_t> StableOrder(absl::Span<const double> key);

// ---- The order of the samples by unknown score, computed once and shared by all metrics.

// The number of samples or blocks in a piece of work for InParallelRanges(), which takes about a millisecond.
inline constexpr int64_t kRankingPiece = 1 << 17;

// Samples by ascending unknown score. Samples with equal scores (0 and -0 are equal) form a tie block, in the order of
// the input. Comparisons are exact.
class Ranking {
 public:
  explicit Ranking(absl::Span<const double> unknown_score);

  int64_t num_samples() const { return static_cast<int64_t>(order_.size()); }
  int64_t num_blocks() const { return num_blocks_; }

  // [N], the sample at each position.
  absl::Span<const uint32_t> order() const { return order_; }
  // The samples of a block.
  absl::Span<const uint32_t> Block(int64_t block) const {
    return absl::MakeConstSpan(order_).subspan(block_begin_[block], block_begin_[block + 1] - block_begin_[block]);
  }
  // The position of a block's first sample; N for the block after the last.
  int64_t BlockBegin(int64_t block) const { return block_begin_[block]; }
  // The score of a block's samples.
  double Score(int64_t block) const { return score_[block]; }

 private:
  std::vector<uint32_t> order_;
  int64_t num_blocks_ = 0;
  // Allocated for N distinct scores; ties leave a part unused.
  std::unique_ptr<double[]> score_;
  std::unique_ptr<uint32_t[]> block_begin_;  // and N after the last
};

// A summary of each sample's softmax(logits) for the calibration metrics, computed once for all replicates and groups.

// The summary of one sample, with p = softmax(z).
struct SoftmaxValues {
  double nll = 0;         // -ln p_y, inf where the logit is -inf; 0 for unknown samples
  double brier = 0;       // sum over c of (p_c - 1[c = y])^2; 0 for unknown samples
  double confidence = 0;  // p of the predicted class
};

// Computed at the first call of Values(), which may come from any thread.
class SoftmaxSummary {
 public:
  // Precondition: the input has logits.
  explicit SoftmaxSummary(const EvaluationInput& input) : input_(input) {}

  // [N]
  const std::vector<SoftmaxValues>& Values() const;

 private:
  EvaluationInput input_;
  mutable std::once_flag once_;
  mutable std::vector<SoftmaxValues> values_;
};

// The data from which all metrics are computed: the samples, their ranking, and the counts of each kind per score.

// Counts of samples: known and classified correctly (closed set), known and misclassified, unknown, and known without a
// prediction. In one input, either all known samples have a prediction or none has.
struct Tally {
  uint32_t correct = 0;
  uint32_t wrong = 0;
  uint32_t unknown = 0;
  uint32_t not_judged = 0;

  uint32_t known() const { return correct + wrong + not_judged; }
  uint32_t all() const { return known() + unknown; }
  Tally& operator+=(const Tally& other) {
    correct += other.correct;
    wrong += other.wrong;
    unknown += other.unknown;
    not_judged += other.not_judged;
    return *this;
  }
  bool operator==(const Tally& other) const {
    return correct == other.correct && wrong == other.wrong && unknown == other.unknown &&
           not_judged == other.not_judged;
  }
};

// The kind of a sample, by label and closed-set prediction.
enum class SampleKind : uint32_t { kCorrect, kWrong, kUnknown, kNotJudged };

// A sample at its position in the ranking.
struct RankedSample {
  uint32_t prediction : 30;  // 0 if there is none
  uint32_t kind_bits : 2;
  int32_t label;

  SampleKind kind() const { return static_cast<SampleKind>(kind_bits); }
};

// An input with its ranking. Each sample has a weight, the number of times that it counts, initially 1. Reweight()
// changes the weights without sorting again. Copies share the ranking but have their own weights; different threads may
// use different copies.
class RankedInput {
 public:
  // The arrays of `input` must outlive the object.
  explicit RankedInput(const EvaluationInput& input);

  // `weight` [N]; its sum must lie below 2^32. Weights of 0 leave tie blocks without samples.
  void Reweight(absl::Span<const uint32_t> weight);

  const EvaluationInput& input() const { return input_; }
  const Ranking& ranking() const { return *ranking_; }

  // [N], in the order of the ranking.
  absl::Span<const RankedSample> samples() const { return *samples_; }
  // Null without logits.
  const SoftmaxSummary* softmax() const { return softmax_.get(); }
  // The counts of each tie block, by ascending unknown score.
  absl::Span<const Tally> blocks() const { return blocks_; }
  // The counts of all blocks together.
  const Tally& total() const { return total_; }
  bool is_weighted() const { return !weight_.empty(); }
  uint32_t weight(int64_t sample) const { return weight_.empty() ? 1 : weight_[sample]; }

 private:
  void Sum();

  EvaluationInput input_;
  std::shared_ptr<const Ranking> ranking_;
  std::shared_ptr<const std::vector<RankedSample>> samples_;
  std::shared_ptr<const SoftmaxSummary> softmax_;
  // [N], 4 * block + kind: where each sample is counted. Made by the first Reweight().
  std::shared_ptr<const std::vector<uint32_t>> cell_;
  std::vector<uint32_t> weight_;  // [N]; empty where all are 1
  std::vector<Tally> blocks_;
  Tally total_;
};

// [C], the weights of the known samples of each class, summed.
std::vector<int64_t> SamplesOfClasses(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_RANKED_INPUT_H_
