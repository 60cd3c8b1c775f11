// How much of the way from a random order to the best one a score goes (Malinin et al. 2021; lm-polygraph). Over the
// known samples, with risk r of all of them and A the mean risk of the k least unknown ones over the m =
// floor(max_rejection n) largest k: (r - A) / (r - A of the best order). 1: the best order, 0: a random one; negative:
// worse. Equal scores count as their expectation. The same ratio of areas under the generalised curve (AUGRC) would be
// 2 AUROC of errors - 1. Absent without known samples, without a rejected sample, and if all losses are equal.
#include <cstdint>
#include <vector>

#include "eval/metrics/aurc.h"
#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

MetricResult PredictionRejectionRatio(const RankedInput& ranked, double max_rejection) {
  const Risk all = RiskOfAll(ranked, RiskSamples::KNOWN);
  if (all.samples == 0) return AbsentWithoutKnown();
  const auto rejected = static_cast<int64_t>(max_rejection * static_cast<double>(all.samples));
  if (rejected == 0) return MetricResult::Absent("max_rejection rejects no sample");
  const std::vector<Risk> best_blocks = BestBlocks(ranked, RiskSamples::KNOWN);
  if (best_blocks.size() < 2) return MetricResult::Absent("all known samples have the same loss");
  SumOfRisks best(all.samples - rejected), sum(all.samples - rejected);
  for (const Risk& block : best_blocks) best.Add(block);
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) sum.Add(RiskOfBlock(ranked, i, RiskSamples::KNOWN));
  const double risk = all.errors / static_cast<double>(all.samples);
  return (risk - sum.value() / static_cast<double>(rejected)) / (risk - best.value() / static_cast<double>(rejected));
}

}  // namespace

Metric Make(const PredictionRejectionRatioSpec& spec) {
  const double most = spec.max_rejection();
  return {With({"PRR"}, most < 1, "up to " + Percent(most) + " rejected"),
          [most](const RankedInput& ranked) { return PredictionRejectionRatio(ranked, most); }};
}

}  // namespace openset
