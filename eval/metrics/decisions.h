// Counts the decisions at all thresholds in one pass over the ranking.
#ifndef OPENSET_EVAL_METRICS_DECISIONS_H_
#define OPENSET_EVAL_METRICS_DECISIONS_H_

#include <cstdint>
#include <vector>

#include "eval/metrics/ranked_input.h"

namespace openset {

// The decisions at one threshold: a sample is accepted as its predicted class if its unknown score is at most the
// threshold, and rejected otherwise. In the (C + 1) x (C + 1) confusion matrix, class C + 1 is unknown.
struct Decisions {
  Tally accepted;
  Tally total;
  int32_t num_classes = 0;  // C
  // Means over the C known classes, 0/0 = 0. Only set if they were requested.
  double macro_precision = 0;  // TP_i / (TP_i + FP_i)
  double macro_tpr = 0;        // TP_i / (TP_i + FN_i)
  double macro_tnr = 0;        // TN_i / (TN_i + FP_i)
};

// Moves from a threshold below all scores to one above them. Sums for the means are kept in fixed point, so that each
// mean (error below 1e-14 for up to 1000 classes) depends only on the decisions, not on the steps that led to them.
class DecisionWalk {
 public:
  // `ranked` must outlive the object. `per_class` requests the means over classes, which need predictions.
  DecisionWalk(const RankedInput& ranked, bool per_class);

  const Decisions& decisions() const { return decisions_; }
  // The tie block that will be accepted next, or the number of blocks at the end.
  int64_t next_block() const { return next_; }
  bool AtEnd() const { return next_ == static_cast<int64_t>(ranked_.blocks().size()); }

  // Raises the threshold to the score of the next block. Precondition: not at the end.
  void AcceptNext() {
    decisions_.accepted += ranked_.blocks()[next_];
    if (per_class_) AcceptClassesOf(next_);
    ++next_;
  }
  // Raises the threshold to `threshold`, which must not be below the current one.
  void AcceptUpTo(double threshold);

 private:
  // The number of samples that are accepted as a class: [0] samples of other classes (FP), [1] samples of the class
  // (TP). An array rather than two members, because branches between them would be mispredicted.
  struct ClassCounts {
    int64_t accepted[2] = {0, 0};
    int64_t of_all[2] = {0, 0};  // the denominators of `share`: FP + TN, TP + FN
    int64_t share[2] = {0, 0};   // FPR and TPR, in fixed point
    int64_t precision = 0;       // in fixed point
  };

  void AcceptClassesOf(int64_t block);
  int64_t Fixed(int64_t numerator, int64_t denominator) const {
    return denominator == 0 ? 0 : static_cast<int64_t>(scale_ * numerator / static_cast<double>(denominator));
  }

  const RankedInput& ranked_;
  bool per_class_;
  int64_t next_ = 0;
  Decisions decisions_;
  double scale_ = 1;  // fixed point of 1
  std::vector<ClassCounts> classes_;
  int64_t sum_precision_ = 0;
  int64_t sum_share_[2] = {0, 0};  // of FPR, of TPR
  double absent_negatives_ = 0;    // classes without samples of other classes, as a share of all
};

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DECISIONS_H_
