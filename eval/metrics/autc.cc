// Area under the threshold curve (Humblot-Renaux et al. 2023): the mean of the areas under the false positive and the
// false negative rate over thresholds from 0 to 1, where scores are mapped to 0 .. 1 by the least and the largest of
// the samples. That is (mean of the known samples' mapped scores + 1 - mean of the unknown samples') / 2. In [0, 1],
// lower is better; unlike AUROC it depends on how far the scores are apart. The authors' code interpolates between
// thresholds and takes scores as they are; pytorch-ood has the form here. Absent without known or unknown samples, for
// infinite scores, and if all scores are equal.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

MetricResult Autc(const RankedInput& ranked) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
    if (ranked.blocks()[i].all() == 0) continue;
    low = std::min(low, ranked.ranking().Score(i));
    high = std::max(high, ranked.ranking().Score(i));
  }
  if (std::isinf(low) || std::isinf(high)) return MetricResult::Absent("needs finite scores");
  if (low == high) return MetricResult::Absent("all scores are equal");
  double known = 0, unknown = 0;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
    const double mapped = (ranked.ranking().Score(i) - low) / (high - low);
    known += mapped * ranked.blocks()[i].known();
    unknown += mapped * ranked.blocks()[i].unknown;
  }
  return (known / total.known() + 1 - unknown / total.unknown) / 2;
}

}  // namespace

Metric Make(const AutcSpec&) { return {{"AUTC"}, Autc, SmallerSide}; }

}  // namespace openset
