#include "eval/metrics/auroc.h"

#include <cstdint>

#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"

namespace openset {
MetricResult Auroc(const RankedInput& ranked, TiedPairRule::Value tied) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  // Twice the number of pairs, which is below 2^63.
  const uint64_t worth_of_tie = tied == TiedPairRule::NOTHING ? 0 : 1;
  uint64_t twice_pairs = 0;
  uint64_t known_below = 0;
  for (const Tally& block : ranked.blocks()) {
    twice_pairs += block.unknown * (2 * known_below + worth_of_tie * block.known());
    known_below += block.known();
  }
  return static_cast<double>(twice_pairs) / (2.0 * total.known() * total.unknown);
}

Metric Make(const AurocSpec& spec) {
  return {With({"AUROC"}, spec.tied() == TiedPairRule::NOTHING, "ties count 0"),
          [tied = spec.tied()](const RankedInput& ranked) { return Auroc(ranked, tied); }, SmallerSide};
}

}  // namespace openset
