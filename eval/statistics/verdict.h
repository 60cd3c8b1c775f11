// The verdict of a comparison of two methods.
#ifndef OPENSET_EVAL_STATISTICS_VERDICT_H_
#define OPENSET_EVAL_STATISTICS_VERDICT_H_

namespace openset {

// Which of two methods has the larger value. The metric determines whether larger is better.
enum class Verdict { kNoDetectableDifference, kALarger, kBLarger };

// The verdict for a confidence interval of a - b: no detectable difference if it contains 0.
inline Verdict VerdictOf(double low, double high) {
  if (low > 0) return Verdict::kALarger;
  if (high < 0) return Verdict::kBLarger;
  return Verdict::kNoDetectableDifference;
}

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_VERDICT_H_
