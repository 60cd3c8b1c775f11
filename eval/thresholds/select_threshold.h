// From scores to decisions: a threshold chosen on validation scores, and what it does on others.
#ifndef OPENSET_EVAL_THRESHOLDS_SELECT_THRESHOLD_H_
#define OPENSET_EVAL_THRESHOLDS_SELECT_THRESHOLD_H_

#include <optional>

#include "absl/status/statusor.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// A sample is rejected where its unknown score is above the threshold.
enum class ThresholdRule {
  // The smallest threshold that accepts at least `target` of the known samples. Needs no unknown samples.
  kKnownAccepted,
  // The largest one that rejects at least `target` of the unknown samples.
  kUnknownRejected,
  // The one with the best value; of equally good ones the smallest.
  kBestOpenSetFMacro,
  kBestOpenSetFMicro,
  kBestYoudenMacro,
  kBestYoudenMicro,
  kBestNaccRates,
  // The largest one whose risk, the share of wrong and of unknown samples among the accepted, is at most `target`: the
  // highest coverage at that risk. The risk holds on the validation samples; it is no bound for others.
  kRiskAtMost,
};

// What a threshold does.
struct ThresholdReport {
  double threshold = 0;
  Tally accepted;
  Tally total;
  std::optional<double> known_accepted;    // share of the known samples
  std::optional<double> correct_accepted;  // share of the known samples: accepted and classified correctly
  std::optional<double> unknown_rejected;  // share of the unknown samples
  double coverage = 0;                     // share of all samples that are accepted
  std::optional<double> risk;              // share of wrong and unknown ones among the accepted
  double open_set_f_macro = 0;
  double open_set_f_micro = 0;
  double youden_macro = 0;
  double youden_micro = 0;
  std::optional<double> nacc_rates;
};

// `target`, a share in [0, 1], is read by kKnownAccepted, kUnknownRejected and kRiskAtMost.
// Errors: kInvalidArgument for a target that is not in [0, 1]; kFailedPrecondition where the validation samples lack
// the side that the rule needs, and where no threshold keeps the risk.
absl::StatusOr<double> SelectThreshold(ThresholdRule rule, double target, const RankedInput& validation);

// Precondition: not NaN.
ThresholdReport DescribeThreshold(double threshold, const RankedInput& samples);

}  // namespace openset

#endif  // OPENSET_EVAL_THRESHOLDS_SELECT_THRESHOLD_H_
