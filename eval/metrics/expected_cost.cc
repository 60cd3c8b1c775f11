// Expected cost of the decisions at a threshold, in units of the cost of rejecting a known sample (metric.proto has the
// formula). In [0, max(prevalence * unknown_cost, (1 - prevalence) * max(1, error_cost))] at the best threshold, lower
// is better. Absent without known or without unknown samples, and without predictions if errors cost something.
#include <utility>

#include "absl/strings/str_cat.h"
#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"
#include "eval/metrics/threshold_metric.h"

namespace openset {
namespace {

MetricResult ExpectedCost(const RankedInput& ranked, const ExpectedCostSpec& spec) {
  if (spec.error_cost() > 0 && !ranked.input().has_predictions()) return AbsentWithoutPredictions();
  const MetricResult benefit =
      AtOperatingPoint(NegativeCost(spec.prevalence(), spec.unknown_cost(), spec.error_cost()), ranked, spec.at());
  if (!benefit.value.has_value()) return benefit;
  return 0 - *benefit.value;
}

}  // namespace

Metric Make(const ExpectedCostSpec& spec) {
  MetricLabel label = {"expected cost", absl::StrCat("prevalence ", Number(spec.prevalence())),
                       absl::StrCat("unknown costs ", Number(spec.unknown_cost()))};
  label = With(std::move(label), spec.error_cost() > 0, absl::StrCat("error costs ", Number(spec.error_cost())));
  return {With(std::move(label), true, ThresholdText(spec.at())),
          [spec](const RankedInput& ranked) { return ExpectedCost(ranked, spec); }};
}

}  // namespace openset
