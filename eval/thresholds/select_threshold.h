// From scores to decisions: a threshold chosen on validation scores, and what it does on others.
#ifndef OPENSET_EVAL_THRESHOLDS_SELECT_THRESHOLD_H_
#define OPENSET_EVAL_THRESHOLDS_SELECT_THRESHOLD_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// A sample is rejected where its unknown score is above the threshold.
enum class ThresholdRule {
  // The smallest threshold that accepts at least `target` of the known samples. Needs no unknown samples.
  kKnownAccepted,
  // The ceil((n + 1) target)-th smallest score of the n known samples: a new known sample, drawn as these were, is
  // accepted with a probability of at least `target` (split conformal prediction). Needs n >= target / (1 - target).
  kConformal,
  // The largest one that rejects at least `target` of the unknown samples.
  kUnknownRejected,
  // The one with the best value; of equally good ones the smallest. Without unknown samples F and Youden's J lose
  // nothing by accepting: the threshold is about the largest score, see WarningOf().
  kBestOpenSetFMacro,
  kBestOpenSetFMicro,
  kBestYoudenMacro,
  kBestYoudenMicro,
  kBestNaccRates,
  // open_set_accuracy of test samples at the threshold chosen by this is the operational open-set accuracy (OOSA, Cruz
  // et al. 2024). As their text has it; their OSA.py takes a known sample for right where its class is predicted of
  // any sample.
  kBestOpenSetAccuracy,
  // The largest one whose risk, the share of wrong and of unknown samples among the accepted, is at most `target`: the
  // highest coverage at that risk. The risk holds on the validation samples; it is no bound for others.
  kRiskAtMost,
  // The largest of the thresholds at coverages of 5 %, 10 %, ..., 100 % for which that risk, of new samples drawn as
  // these were, is at most `target`, all 20 being right with a probability of at least 1 - delta: Clopper and Pearson's
  // upper bound at delta / 20, of the samples below the threshold, is at most `target` (learn then test, Angelopoulos
  // et al. 2021, with Bonferroni's correction; Geifman and El-Yaniv 2017 search by bisection).
  kRiskGuaranteed,
};

// A share with Clopper and Pearson's 95 % interval.
struct CountedShare {
  double value = 0;
  double low = 0;
  double high = 1;
};

// What a threshold does. Without predictions all that asks whether they are right is absent: the fields from
// correct_accepted on but unknown_rejected and coverage.
struct ThresholdReport {
  double threshold = 0;
  Tally accepted;
  Tally total;
  // The intervals speak of new samples at this threshold: not on the samples that it was chosen by.
  std::optional<CountedShare> known_accepted;     // share of the known samples
  std::optional<CountedShare> correct_accepted;   // share of the known samples: accepted and classified correctly
  std::optional<CountedShare> unknown_rejected;   // share of the unknown samples
  std::optional<CountedShare> coverage;           // share of all samples that are accepted
  std::optional<CountedShare> risk;               // share of wrong and unknown ones among the accepted
  std::optional<CountedShare> open_set_accuracy;  // share of all samples: correct_accepted or unknown_rejected
  std::optional<double> open_set_f_macro;
  std::optional<double> open_set_f_micro;
  std::optional<double> youden_macro;
  std::optional<double> youden_micro;
  std::optional<double> nacc_rates;
};

// Whether the rule reads `target`: kKnownAccepted, kConformal, kUnknownRejected, kRiskAtMost, kRiskGuaranteed.
bool ReadsTarget(ThresholdRule rule);

// `target` is a share in [0, 1]; `delta`, in (0, 1), is read by kRiskGuaranteed.
// Errors: kInvalidArgument for a target or delta out of range; kFailedPrecondition where the validation samples lack
// the side or the predictions that the rule needs, if there are too few for kConformal, and where no threshold keeps
// the risk.
absl::StatusOr<double> SelectThreshold(ThresholdRule rule, double target, const RankedInput& validation,
                                       double delta = 0.05);

// What a user should know of a rule's choice on these samples; empty if there is nothing to say.
std::string WarningOf(ThresholdRule rule, const RankedInput& validation);

// Precondition: not NaN.
ThresholdReport DescribeThreshold(double threshold, const RankedInput& samples);

}  // namespace openset

#endif  // OPENSET_EVAL_THRESHOLDS_SELECT_THRESHOLD_H_
