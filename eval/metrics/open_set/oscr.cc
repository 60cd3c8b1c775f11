#include "eval/metrics/open_set/oscr.h"

#include <cstdint>

#include "eval/metrics/open_set/openauc.h"

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

}  // namespace

MetricResult OscrTrapezoid(const RankedInput& ranked) { return OpenAuc(ranked, TiedPair::kHalf); }

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

MetricResult Oscr(const RankedInput& ranked, const OscrSpec& spec) {
  switch (spec.form()) {
    case OscrSpec::LEGACY:
      return OscrLegacy(ranked);
    case OscrSpec::EQ9_MIXED:
      return OscrEq9Mixed(ranked);
    case OscrSpec::FORM_UNSPECIFIED:
    case OscrSpec::TRAPEZOID:
      break;
  }
  return OscrTrapezoid(ranked);
}

}  // namespace openset
