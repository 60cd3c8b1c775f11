#include "eval/metrics/ranking.h"

#include "eval/metrics/stable_order.h"

namespace openset {

Ranking::Ranking(absl::Span<const double> unknown_score) : order_(StableOrder(unknown_score)) {
  // As many blocks as samples at most; the memory that ties leave unused is never touched.
  score_.reserve(order_.size());
  block_begin_.reserve(order_.size() + 1);
  for (int64_t place = 0; place < num_samples(); ++place) {
    const double score = unknown_score[order_[place]];
    if (place > 0 && score == score_.back()) continue;
    score_.push_back(score);
    block_begin_.push_back(place);
  }
  block_begin_.push_back(num_samples());
}

}  // namespace openset
