// Chooses a threshold on validation scores, and reports its decisions on other samples.
#ifndef OPENSET_EVAL_THRESHOLDS_SELECT_THRESHOLD_H_
#define OPENSET_EVAL_THRESHOLDS_SELECT_THRESHOLD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// How the threshold is chosen. A sample is rejected if its unknown score is above the threshold.
enum class ThresholdRule {
  // The smallest threshold that accepts at least `target` of the known samples. Needs no unknown samples.
  kKnownAccepted,
  // The ceil((n + 1) target)-th smallest score of the n known samples, so that a new known sample from the same
  // distribution is accepted with a probability of at least `target` (split conformal prediction). Needs
  // n >= target / (1 - target).
  kConformal,
  // The largest threshold that rejects at least `target` of the unknown samples.
  kUnknownRejected,
  // The threshold with the best value of the metric; the smallest of equally good ones. Without unknown samples,
  // accepting costs F and Youden's J nothing, so that the threshold is about the largest score; see WarningOf().
  kBestOpenSetFMacro,
  kBestOpenSetFMicro,
  kBestYoudenMacro,
  kBestYoudenMicro,
  kBestNaccRates,
  // The open_set_accuracy of test samples at this threshold is the operational open-set accuracy (OOSA, Cruz et al.
  // 2024), as in the paper's text. Their OSA.py counts a known sample as correct if its class is predicted for any
  // sample.
  kBestOpenSetAccuracy,
  // The largest threshold whose risk, the share of misclassified and unknown samples among the accepted ones, is at
  // most `target`: the highest coverage at that risk. This is the risk on the validation samples, not a bound for
  // others.
  kRiskAtMost,
  // The largest of up to 20 thresholds at which the risk on new samples from the same distribution is at most `target`,
  // where all 20 statements hold together with a probability of at least 1 - delta: Clopper and Pearson's upper bound
  // at level delta / 20 for the accepted validation samples must be at most `target` (learn then test, Angelopoulos et
  // al. 2021, with Bonferroni's correction; Geifman and El-Yaniv 2017 use bisection). The thresholds are the largest
  // doubles below the ceil(n j / 20)-th smallest of all n scores, j = 1 .. 20, so that they reject this sample and its
  // ties: given its score, the scores below are independent draws from the distribution below it, but the number of
  // ties isn't. Compare in double precision: as a float, the threshold may be that score.
  kRiskGuaranteed,
};

// A share with its 95 % interval: Clopper and Pearson's or, for samples in clusters, ClusteredInterval()
// (eval/statistics/intervals.h).
struct CountedShare {
  double value = 0;
  double low = 0;
  double high = 1;
};

// The decisions at a threshold. Without predictions, the fields that need them are absent: those from correct_accepted
// on, except unknown_rejected and coverage.
struct ThresholdReport {
  double threshold = 0;
  Tally accepted;
  Tally total;
  int64_t clusters = 0;  // of the samples; 0 if no two belong together
  // The intervals are valid for samples that were not used to choose the threshold.
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

// `target` is a share in [0, 1]; `delta`, in (0, 1), is used only by kRiskGuaranteed. Errors: kInvalidArgument for a
// target or delta out of range; kFailedPrecondition if the validation samples lack the known samples, unknown samples
// or predictions that the rule needs, if there are too few for kConformal (no number suffices for a target of 1), or if
// no threshold has such a risk.
absl::StatusOr<double> SelectThreshold(ThresholdRule rule, double target, const RankedInput& validation,
                                       double delta = 0.05);

// A warning about the rule's choice on these samples, for users; empty if there is none.
std::string WarningOf(ThresholdRule rule, const RankedInput& validation);

// Precondition: not NaN.
ThresholdReport DescribeThreshold(double threshold, const RankedInput& samples);

}  // namespace openset

#endif  // OPENSET_EVAL_THRESHOLDS_SELECT_THRESHOLD_H_
