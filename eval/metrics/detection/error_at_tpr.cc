#include "eval/metrics/detection/error_at_tpr.h"

#include <cmath>
#include <cstdint>

namespace openset {
namespace {

double Error(const Tally& total, int64_t unknown_rejected, int64_t known_rejected) {
  return static_cast<double>(total.unknown - unknown_rejected + known_rejected) / total.all();
}

}  // namespace

MetricResult ErrorAt95Tpr(const RankedInput& ranked, ErrorRule rule) {
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
    if (rule == ErrorRule::kFirstReaching) {
      if (100 * unknown >= 95 * static_cast<int64_t>(total.unknown)) break;
    } else if (const double distance = std::abs(static_cast<double>(unknown) / total.unknown - 0.95);
               distance <= nearest) {
      nearest = distance;
      released = Error(total, unknown - tally.unknown, known - tally.known());
    }
  }
  return rule == ErrorRule::kReleased ? released : Error(total, unknown, known);
}

}  // namespace openset
