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
  kWithinSpread,  // other bits, and no larger change than two seeds of a split may have
  kDifferent,
  kNotJudged,  // other bits, and the other runs in the store are too few, or too much alike, to say more
};

struct MetricVerdict {
  std::string metric;  // MeasuredNameInGroup() (experiments/store/records/metric_groups.h)
  Reproduced reproduced = Reproduced::kSameBits;
  // "same bits"; "same within the seed's spread: changed by 0.0019, 0.12 times the standard deviation over seeds of a
  // split (0.016; 7 other runs on 4 splits); from 0.058 on it would be different".
  std::string text;
};

// Returns the verdict on each metric of `record`. A metric that only one of the two records has is different. So is a
// metric with other bits if the outputs of both have the same bits (outputs_sha256, fit_outputs_sha256), or if it is
// the only one, at least one other metric has a value, and both were made on the same kind of CPU: other rounding
// changes outputs, and with them several metrics.
//
// Any other change is compared with the spread of the *other* trials in `stored` of the same study, method, values,
// task and level of openness, so that a record says nothing about its own spread: their standard deviation s pooled
// over splits (the squares about each split's mean, divided by runs - splits), so that differences between splits don't
// count. With fewer than two degrees of freedom, s is the sample standard deviation over all these runs. Two runs
// differ with the variance 2 s^2, so change / (sqrt(2) s) is compared with Student's distribution. The p-values of the
// metrics that changed are adjusted by Holm's method (eval/statistics/paired_tests.h): a change is different if its
// adjusted p-value is below 0.05. So a trial whose run is another draw of the same spread has any metric called
// different in at most 1 of 20 cases, however many metrics it has. Otherwise a change of at most 4 s is within the
// spread; a larger one is not judged, because only more runs could tell. With fewer than three other runs, or if they
// all have the same value, nothing is judged. `stored` may have other trials too; candidates of searches are ignored.
std::vector<MetricVerdict> CompareAgain(const TrialRecord& record, const TrialRecord& again,
                                        absl::Span<const TrialRecord> stored);

// Whether LibTorch's kernels for the same kind of CPU (KindOfMachine()), and no GPU, computed both records' outputs.
bool OnTheSameKindOfCpu(const TrialRecord& a, const TrialRecord& b);

// The verdict on all metrics: different if one is, otherwise not judged if one is, and so on.
Reproduced VerdictOnAll(absl::Span<const MetricVerdict> verdicts);

// "same bits", "same within the seed's spread", "different", "other bits, not judged".
std::string VerdictText(Reproduced reproduced);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_
