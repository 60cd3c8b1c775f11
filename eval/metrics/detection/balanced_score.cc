#include "eval/metrics/detection/balanced_score.h"

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
  const int32_t unknown_class = score == BalancedScore::kOuter ? 1 : input.num_classes();
  std::vector<ClassCounts> classes(unknown_class + (score == BalancedScore::kInner ? 0 : 1));
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    const int64_t weight = ranked.weight(i);
    const bool unknown = input.IsUnknown(i);
    if (weight == 0) continue;
    if (unknown && (score == BalancedScore::kInner || score == BalancedScore::kHalfpoint)) continue;
    const bool says_unknown = input.has_predictions() && input.prediction()[i] == input.num_classes();
    const bool rejected = score != BalancedScore::kInner && (says_unknown || !(input.unknown_score()[i] <= threshold));
    const bool known_as_one = score == BalancedScore::kOuter;
    const int32_t truth = unknown ? unknown_class : known_as_one ? 0 : input.label()[i];
    const int32_t decision = rejected ? unknown_class : known_as_one ? 0 : input.prediction()[i];
    classes[truth].samples += weight;
    if (decision < static_cast<int32_t>(classes.size())) classes[decision].predicted += weight;
    if (truth == decision) classes[truth].right += weight;
  }
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
      return MetricResult::Absent("the threshold of a method is known in experiments only");
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
