// Whether a repetition of a trial gave the same numbers, and how large the differences are.
#ifndef OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_
#define OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Whether a metric was reproduced.
enum class Reproduced {
  kSameBits,
  kWithinSpread,  // as two seeds of a split would differ in 19 of 20 cases
  kDifferent,
  kNotJudged,  // other bits, and too few stored runs to say more
};

struct MetricVerdict {
  std::string metric;  // MeasuredNameInGroup() (experiments/store/records/metric_groups.h)
  Reproduced reproduced = Reproduced::kSameBits;
  // "same bits"; "same within the seed's spread: changed by 0.0019, 0.12 times the standard deviation over seeds of a
  // split (0.016; 8 runs on 4 splits)".
  std::string text;
};

// Returns the verdict on each metric of `record`. The change is compared with the spread of the records of the same
// study, method, values, task and level of openness: their standard deviation s pooled over splits (the squares about
// each split's mean, divided by runs - splits), so that differences between splits don't count. With fewer than two
// degrees of freedom, s is the sample standard deviation over all runs. A change is within the spread if it is at most
// t sqrt(2) s, where t is the 97.5 % quantile of Student's distribution: the difference of two runs has the variance
// 2 s^2. With fewer than three runs, nothing is judged. A metric that only one of the two records has counts as
// different. `stored` may have other trials too; candidates of searches are ignored.
std::vector<MetricVerdict> CompareAgain(const TrialRecord& record, const TrialRecord& again,
                                        absl::Span<const TrialRecord> stored);

// The verdict on all metrics: different if one is, otherwise not judged if one is, and so on.
Reproduced VerdictOnAll(absl::Span<const MetricVerdict> verdicts);

// "same bits", "same within the seed's spread", "different", "other bits, and too few runs to judge".
std::string VerdictText(Reproduced reproduced);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_
