// Area under the open-set classification rate curve (Dhamija et al. 2018). At a threshold t, CCR is the share of known
// samples that are accepted and classified correctly, and FPR the share of unknown samples that are accepted. The area
// under CCR over FPR is in [0, 1], higher is better. TRAPEZOID accepts r <= t on both axes: OpenAUC with ties 1/2.
// Absent without known or without unknown samples.
#include <cstdint>

#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/openauc.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

// Whether the first known sample of the block that counts is classified correctly.
bool FirstKnownIsCorrect(const RankedInput& ranked, int64_t block) {
  const Tally& tally = ranked.blocks()[block];
  if (tally.correct == 0) return false;
  if (tally.wrong == 0) return true;
  for (const uint32_t sample : ranked.ranking().Block(block)) {
    if (ranked.weight(sample) > 0 && !ranked.input().IsUnknown(sample)) return ranked.input().IsCorrect(sample);
  }
  return false;
}

// Accepts r < t for CCR (Eq. 9 of OpenAUC) and r <= t for FPR, where t runs over the distinct scores; trapezoid rule.
// Each place where an unknown sample follows a correct one makes it smaller than the area above.
MetricResult OscrEq9Mixed(const RankedInput& ranked) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  // From one block with samples to the next, FPR rises by the unknown samples of the new block; the CCR at both ends
  // counts the correct samples below the last block and below the new one.
  uint64_t twice_pairs = 0;
  uint64_t correct_below = 0;
  uint64_t correct_below_last = 0;
  for (const Tally& block : ranked.blocks()) {
    if (block.all() == 0) continue;
    twice_pairs += block.unknown * (correct_below_last + correct_below);
    correct_below_last = correct_below;
    correct_below += block.correct;
  }
  return static_cast<double>(twice_pairs) / (2.0 * total.known() * total.unknown);
}

// The value that the code of ARPL and of Vaze et al. prints if its sort is stable: going through the samples by
// descending score (known samples first among equal scores, then in the order of the input), CCR excludes one sample
// more than FPR. Each place where a correct sample directly follows an unknown one loses half a pair. With ties, the
// value depends on the order.
MetricResult OscrLegacy(const RankedInput& ranked) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  // Descending: an unknown sample is worth the correct ones still to come, less a half if the very next is one.
  uint64_t twice_pairs = 0;
  uint64_t correct_below = total.correct;
  bool follows_unknown = false;
  for (int64_t block = ranked.ranking().num_blocks() - 1; block >= 0; --block) {
    const Tally& tally = ranked.blocks()[block];
    if (tally.all() == 0) continue;
    if (follows_unknown && FirstKnownIsCorrect(ranked, block)) --twice_pairs;
    correct_below -= tally.correct;
    twice_pairs += 2 * uint64_t{tally.unknown} * correct_below;
    follows_unknown = tally.unknown > 0;
  }
  return static_cast<double>(twice_pairs) / (2.0 * total.known() * total.unknown);
}

}  // namespace

Metric Make(const OscrSpec& spec) {
  return {WithForm({"OSCR"}, spec.form(), OscrSpec::TRAPEZOID),
          [form = spec.form()](const RankedInput& ranked) {
            return form == OscrSpec::LEGACY      ? OscrLegacy(ranked)
                   : form == OscrSpec::EQ9_MIXED ? OscrEq9Mixed(ranked)
                                                 : OpenAuc(ranked);
          },
          SmallerSide};
}

}  // namespace openset
