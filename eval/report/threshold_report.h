// The result of `openset threshold`, and its text in each format.
#ifndef OPENSET_EVAL_REPORT_THRESHOLD_REPORT_H_
#define OPENSET_EVAL_REPORT_THRESHOLD_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/report/document.h"
#include "eval/thresholds/select_threshold.h"

namespace openset {

// "known_accepted", "conformal", "unknown_rejected", "open_set_f_macro", "open_set_f_micro", "youden_macro",
// "youden_micro", "nacc_rates", "open_set_accuracy", "risk", "risk_guaranteed". Errors: kInvalidArgument with these
// names.
absl::StatusOr<ThresholdRule> ParseThresholdRule(const std::string& name);

struct ChosenThreshold {
  std::vector<std::string> notes;
  std::string rule;
  std::optional<double> target;
  std::optional<double> delta;
  bool has_clusters = false;  // two of the validation samples that the rule is about are of one cluster
  ThresholdReport validation;
  std::optional<ThresholdReport> test;
};

// What the threshold guarantees for new samples, and under which conditions, in a sentence or two; or that it
// guarantees nothing, and which rule would.
std::string GuaranteeText(const ChosenThreshold& chosen);

// What to check if the shares of the test samples contradict the guarantee; "" if they don't. For conformal: the
// interval of the test samples' accepted share lies below the target, and the share is 3 standard errors of both sets
// of samples below it. For risk_guaranteed: the interval of their risk lies above the target.
std::string GuaranteeHint(const ChosenThreshold& chosen);

// JSON (with "n_clusters" for samples in clusters): {"rule", "target", "threshold", "guarantee", "validation": {...},
// "test": {...}}, shares in full precision, absent if undefined, and "intervals": {share: [low, high]} in each; a
// threshold of -inf (reject all) is the text
// "-inf".
std::string FormatThreshold(const ChosenThreshold& chosen, TextFormat format);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_THRESHOLD_REPORT_H_
