// Points of the risk-coverage curve. Absent without known samples, unless unknown samples count too (POOL).
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "eval/metrics/aurc.h"
#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

// k = ceil(coverage * samples), at least 1; 0 if there are no samples. Rounding errors of the product don't count: k is
// 55 for 0.55 of 100.
int64_t SamplesAtCoverage(double coverage, int64_t samples) {
  const double wanted = std::ceil(coverage * static_cast<double>(samples) * (1 - 1e-12));
  return std::min(std::max<int64_t>(static_cast<int64_t>(wanted), 1), samples);
}

// (errors among the k = SamplesAtCoverage(coverage, n) samples with the lowest unknown scores) / k, in expectation over
// the orders of equal scores. In [0, 1], lower is better.
MetricResult RiskAtCoverage(const RankedInput& ranked, RiskSamples::Value over, double coverage) {
  const Risk total = RiskOfAll(ranked, over);
  if (total.samples == 0) return AbsentWithoutKnown();
  const int64_t k = SamplesAtCoverage(coverage, total.samples);
  Risk before;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
    const Risk block = RiskOfBlock(ranked, i, over);
    if (before.samples + block.samples >= k) {
      const double share = block.errors / static_cast<double>(block.samples);
      return (before.errors + static_cast<double>(k - before.samples) * share) / static_cast<double>(k);
    }
    before.samples += block.samples;
    before.errors += block.errors;
  }
  return total.errors / static_cast<double>(total.samples);
}

// Share of samples that are accepted at the largest threshold at which the risk of the accepted samples is at most
// `risk`; 0 if there is none. In [0, 1], higher is better.
MetricResult CoverageAtRisk(const RankedInput& ranked, RiskSamples::Value over, double risk) {
  const Risk total = RiskOfAll(ranked, over);
  if (total.samples == 0) return AbsentWithoutKnown();
  Risk accepted;
  int64_t covered = 0;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
    const Risk block = RiskOfBlock(ranked, i, over);
    accepted.samples += block.samples;
    accepted.errors += block.errors;
    if (accepted.samples == 0) continue;
    if (accepted.errors <= risk * static_cast<double>(accepted.samples) * (1 + 1e-12)) covered = accepted.samples;
  }
  return static_cast<double>(covered) / static_cast<double>(total.samples);
}

// "WHAT at LEVEL OF".
MetricLabel LabelOf(const std::string& what, double level, const std::string& of, bool pooled) {
  return With({absl::StrCat(what, " at ", Percent(level), " ", of)}, pooled, "pooled");
}

}  // namespace

Metric Make(const RiskAtCoverageSpec& spec) {
  const bool pooled = spec.over() == RiskSamples::POOL;
  const double coverage = spec.coverage();
  return {LabelOf("risk", coverage, "coverage", pooled),
          [over = spec.over(), coverage](const RankedInput& ranked) { return RiskAtCoverage(ranked, over, coverage); },
          [over = spec.over(), coverage](const RankedInput& ranked) {
            return SamplesAtCoverage(coverage, RiskOfAll(ranked, over).samples);
          }};
}

Metric Make(const CoverageAtRiskSpec& spec) {
  return {LabelOf("coverage", spec.risk(), "risk", spec.over() == RiskSamples::POOL),
          [over = spec.over(), risk = spec.risk()](const RankedInput& ranked) {
            return CoverageAtRisk(ranked, over, risk);
          }};
}

}  // namespace openset
