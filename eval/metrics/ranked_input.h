// The data from which all metrics are computed: the samples, their ranking, and the counts of each kind per score.
#ifndef OPENSET_EVAL_METRICS_RANKED_INPUT_H_
#define OPENSET_EVAL_METRICS_RANKED_INPUT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/metrics/ranking.h"
#include "eval/metrics/softmax_summary.h"

namespace openset {

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
