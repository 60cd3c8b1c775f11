#include "eval/metrics/selective/risk_coverage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace openset {

int64_t SamplesAtCoverage(double coverage, int64_t samples) {
  const double wanted = std::ceil(coverage * static_cast<double>(samples) * (1 - 1e-12));
  return std::min(std::max<int64_t>(static_cast<int64_t>(wanted), 1), samples);
}

MetricResult RiskAtCoverage(const RankedInput& ranked, RiskOver over, double coverage) {
  const Risk total = RiskOf(ranked.total(), over);
  if (total.samples == 0) return AbsentWithoutKnown();
  const int64_t k = SamplesAtCoverage(coverage, total.samples);
  Risk before;
  for (const Tally& tally : ranked.blocks()) {
    const Risk block = RiskOf(tally, over);
    if (before.samples + block.samples >= k) {
      const double share = static_cast<double>(block.errors) / static_cast<double>(block.samples);
      return (static_cast<double>(before.errors) + static_cast<double>(k - before.samples) * share) /
             static_cast<double>(k);
    }
    before.samples += block.samples;
    before.errors += block.errors;
  }
  return static_cast<double>(total.errors) / static_cast<double>(total.samples);
}

MetricResult CoverageAtRisk(const RankedInput& ranked, RiskOver over, double risk) {
  const Risk total = RiskOf(ranked.total(), over);
  if (total.samples == 0) return AbsentWithoutKnown();
  Risk accepted;
  int64_t covered = 0;
  for (const Tally& tally : ranked.blocks()) {
    const Risk block = RiskOf(tally, over);
    accepted.samples += block.samples;
    accepted.errors += block.errors;
    if (accepted.samples == 0) continue;
    if (static_cast<double>(accepted.errors) <= risk * static_cast<double>(accepted.samples) * (1 + 1e-12)) {
      covered = accepted.samples;
    }
  }
  return static_cast<double>(covered) / static_cast<double>(total.samples);
}

}  // namespace openset
