// The order of the samples by unknown score, computed once and shared by all metrics.
#ifndef OPENSET_EVAL_METRICS_RANKING_H_
#define OPENSET_EVAL_METRICS_RANKING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/evaluation_input.h"

namespace openset {

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

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_RANKING_H_
