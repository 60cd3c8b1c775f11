#include "eval/metrics/ranking.h"

#include <limits>

#include "core/in_parallel.h"
#include "eval/metrics/stable_order.h"

namespace openset {

Ranking::Ranking(absl::Span<const double> unknown_score)
    : order_(StableOrder(unknown_score)),
      score_(new double[order_.size()]),
      block_begin_(new uint32_t[order_.size() + 1]) {
  // The score of each place first, which takes look-ups that are far from each other, and then of each block: the first
  // one in it.
  InParallelRanges(num_samples(), kRankingPiece, [&](int64_t begin, int64_t end) {
    for (int64_t place = begin; place < end; ++place) score_[place] = unknown_score[order_[place]];
  });
  double last = std::numeric_limits<double>::quiet_NaN();  // unequal to every score
  for (int64_t place = 0; place < num_samples(); ++place) {
    const double score = score_[place];
    score_[num_blocks_] = score;
    block_begin_[num_blocks_] = place;
    num_blocks_ += score == last ? 0 : 1;
    last = score;
  }
  block_begin_[num_blocks_] = num_samples();
}

}  // namespace openset
