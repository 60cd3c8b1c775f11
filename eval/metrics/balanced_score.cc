// Inner, Outer, Halfpoint and Overall score (Komorniczak and Ksieniewicz 2024): the mean recall of the decisions at a
// threshold, over
//
//   inner      C classes, known samples only, closed-set predictions; ignores the threshold
//   outer      two classes: known samples should be accepted, unknown samples rejected; absent without unknown samples
//   halfpoint  C + 1 classes, known samples only; rejecting one is an error, and class C + 1, which has no samples, has
//              recall 0
//   overall    C + 1 classes, all samples
//
// The mean is over the classes that have samples (PRESENT), those and the ones that are predicted for a sample
// (TOUCHED) or every class (ALL); a class without samples counts as 0 if it is included. In [0, 1], higher is better.
// Absent if the mean includes no class; if the threshold accepts a share of the known samples and there are none; and
// for the threshold of a method, which is known only in studies.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"
#include "eval/metrics/threshold_metric.h"

namespace openset {
namespace {

struct ClassCounts {
  int64_t samples = 0;
  int64_t right = 0;      // of them, predicted as this class
  int64_t predicted = 0;  // samples of any class predicted as this one
};

MetricResult MeanRecall(const std::vector<ClassCounts>& classes, BalancedScoreSpec::Denominator denominator) {
  double sum = 0;
  int64_t counted = 0;
  for (const ClassCounts& c : classes) {
    if (c.samples > 0) sum += static_cast<double>(c.right) / c.samples;
    counted += denominator == BalancedScoreSpec::ALL || c.samples > 0 ||
               (denominator == BalancedScoreSpec::TOUCHED && c.predicted > 0);
  }
  if (counted == 0) return AbsentWithoutKnown();
  return sum / counted;
}

// Mean recall of the decisions at `threshold` (accepted: r <= threshold).
MetricResult BalancedScoreAt(const RankedInput& ranked, MetricSpec::KindCase score, double threshold,
                             BalancedScoreSpec::Denominator denominator) {
  const EvaluationInput& input = ranked.input();
  const bool inner = score == MetricSpec::kInner;
  const bool known_as_one = score == MetricSpec::kOuter;
  const bool skips_unknown = inner || score == MetricSpec::kHalfpoint;
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

MetricResult BalancedScoreAt(const RankedInput& ranked, MetricSpec::KindCase score, const BalancedScoreSpec& spec) {
  const BalancedScoreSpec::Denominator denominator = spec.denominator();
  if (score == MetricSpec::kInner) return BalancedScoreAt(ranked, score, 0, denominator);
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

std::vector<std::string> LabelOf(const BalancedScoreSpec& spec, MetricSpec::KindCase kind) {
  if (kind == MetricSpec::kInner) return {"inner score"};
  return {kind == MetricSpec::kOuter       ? "outer score"
          : kind == MetricSpec::kHalfpoint ? "halfpoint score"
                                           : "overall score",
          ThresholdText(spec)};
}

}  // namespace

Metric Make(const BalancedScoreSpec& spec, MetricSpec::KindCase kind) {
  return {With(With(LabelOf(spec, kind), spec.denominator() == BalancedScoreSpec::TOUCHED, "mean over touched classes"),
               spec.denominator() == BalancedScoreSpec::ALL, "mean over all classes"),
          [kind, spec](const RankedInput& ranked) { return BalancedScoreAt(ranked, kind, spec); }};
}

}  // namespace openset
