// (Unknown samples accepted + known samples rejected) / all samples, at the threshold t that detects 95 % of the
// unknown samples: the largest with at least 95 % of them at r >= t, which are rejected. RELEASED, as in the code of
// OpenAUC and of Vaze et al.: the lowest t whose share is nearest to 95 %; samples with r > t are rejected, so that
// those at t are accepted although they count as detected. In [0, 1], lower is better. Depends on the known : unknown
// ratio. Absent without known or without unknown samples.
#include <cmath>
#include <cstdint>

#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

double Error(const Tally& total, int64_t unknown_rejected, int64_t known_rejected) {
  return static_cast<double>(total.unknown - unknown_rejected + known_rejected) / total.all();
}

MetricResult ErrorAt95Tpr(const RankedInput& ranked, ErrorAtTprSpec::Rule rule) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  int64_t unknown = 0;  // at r >= t
  int64_t known = 0;
  double nearest = 0.95;  // the curve starts above all scores, where the share of rejected samples is 0
  double released = Error(total, 0, 0);
  for (int64_t block = ranked.blocks().size() - 1; block >= 0; --block) {
    const Tally& tally = ranked.blocks()[block];
    if (tally.all() == 0) continue;
    unknown += tally.unknown;
    known += tally.known();
    if (rule != ErrorAtTprSpec::RELEASED) {
      if (100 * unknown >= 95 * static_cast<int64_t>(total.unknown)) break;
    } else if (const double distance = std::abs(static_cast<double>(unknown) / total.unknown - 0.95);
               distance <= nearest) {
      nearest = distance;
      released = Error(total, unknown - tally.unknown, known - tally.known());
    }
  }
  return rule == ErrorAtTprSpec::RELEASED ? released : Error(total, unknown, known);
}

}  // namespace

Metric Make(const ErrorAtTprSpec& spec) {
  return {With({"error at 95 % TPR", "unknown positive"}, spec.rule() == ErrorAtTprSpec::RELEASED, "released"),
          [rule = spec.rule()](const RankedInput& ranked) { return ErrorAt95Tpr(ranked, rule); }, SmallerSide};
}

}  // namespace openset
