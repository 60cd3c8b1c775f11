#include "eval/metrics/detection/balanced_score.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "eval/metrics/detection/threshold_metric.h"

namespace openset {
namespace {

struct ClassCounts {
  int64_t samples = 0;
  int64_t right = 0;      // of them, predicted as this class
  int64_t predicted = 0;  // samples of any class predicted as this one
};

MetricResult MeanRecall(const std::vector<ClassCounts>& classes, Denominator denominator) {
  double sum = 0;
  int64_t counted = 0;
  for (const ClassCounts& c : classes) {
    if (c.samples > 0) sum += static_cast<double>(c.right) / c.samples;
    counted +=
        denominator == Denominator::kAll || c.samples > 0 || (denominator == Denominator::kTouched && c.predicted > 0);
  }
  if (counted == 0) return AbsentWithoutKnown();
  return sum / counted;
}

}  // namespace

MetricResult BalancedScoreAt(const RankedInput& ranked, BalancedScore score, double threshold,
                             Denominator denominator) {
  const EvaluationInput& input = ranked.input();
  const bool inner = score == BalancedScore::kInner;
  const bool known_as_one = score == BalancedScore::kOuter;
  const bool skips_unknown = inner || score == BalancedScore::kHalfpoint;
  // Index 0 counts the unknown class, or samples that are left out if there is none; the classes follow. The last index
  // counts predictions of the extra class "unknown" if they are not decisions for it. Arithmetic instead of branches,
  // because the processor can't predict what a sample is and how it is decided.
  std::vector<ClassCounts> classes(known_as_one ? 3 : input.num_classes() + 2);
  const int32_t last_class = known_as_one ? 1 : input.num_classes();
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    const int32_t label = input.label()[i];
    const int32_t prediction = input.has_predictions() ? input.prediction()[i] : 0;
    const bool known = label != kUnknownLabel;
    const bool accepted = inner | ((prediction != input.num_classes()) & (input.unknown_score()[i] <= threshold));
    const int64_t weight = int64_t{ranked.weight(i)} * (known | !skips_unknown);
    const int32_t truth = std::min(1 + label, last_class);
    const int32_t decision = accepted * (known_as_one ? 1 : 1 + prediction);
    classes[truth].samples += weight;
    classes[decision].predicted += weight;
    classes[truth].right += weight * (truth == decision);
  }
  classes.pop_back();
  if (known_as_one && classes[0].samples == 0) return AbsentWithoutUnknown();
  // The unknown class is the last one of a mean.
  std::rotate(classes.begin(), classes.begin() + 1, classes.end());
  if (inner) classes.pop_back();
  return MeanRecall(classes, denominator);
}

MetricResult BalancedScoreAt(const RankedInput& ranked, BalancedScore score, const BalancedScoreSpec& spec) {
  Denominator denominator = Denominator::kPresent;
  if (spec.denominator() == BalancedScoreSpec::TOUCHED) denominator = Denominator::kTouched;
  if (spec.denominator() == BalancedScoreSpec::ALL) denominator = Denominator::kAll;
  if (score == BalancedScore::kInner) return BalancedScoreAt(ranked, score, 0, denominator);
  switch (spec.at_case()) {
    case BalancedScoreSpec::kThreshold:
      return BalancedScoreAt(ranked, score, spec.threshold(), denominator);
    case BalancedScoreSpec::kOfMethod:
      return MetricResult::Absent("the threshold of a method is known only in studies");
    case BalancedScoreSpec::kKnownAccepted:
    case BalancedScoreSpec::AT_NOT_SET:
      break;
  }
  const double share = spec.at_case() == BalancedScoreSpec::kKnownAccepted ? spec.known_accepted() : 0.95;
  const std::optional<double> threshold = ThresholdAcceptingKnown(ranked, share);
  if (!threshold.has_value()) return AbsentWithoutKnown();
  return BalancedScoreAt(ranked, score, *threshold, denominator);
}

}  // namespace openset
