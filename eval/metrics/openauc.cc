#include "eval/metrics/openauc.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"

namespace openset {
namespace {

// OpenAucWithEpsilonMask with scores and sums in T.
template <typename T>
double WithEpsilonMask(const RankedInput& ranked) {
  const Tally& total = ranked.total();
  double pairs = 0;
  double correct_below = 0;
  T highest_unknown = 0;
  double unknown_at_highest = 0;
  const int64_t num_blocks = ranked.ranking().num_blocks();
  for (int64_t begin = 0; begin < num_blocks;) {
    // Blocks whose scores are equal in T.
    const T score = static_cast<T>(ranked.ranking().Score(begin));
    Tally tied;
    for (; begin < num_blocks && static_cast<T>(ranked.ranking().Score(begin)) == score; ++begin) {
      tied.correct += ranked.blocks()[begin].correct;
      tied.unknown += ranked.blocks()[begin].unknown;
    }
    pairs += tied.unknown * (correct_below + 0.5 * tied.correct);
    correct_below += tied.correct;
    if (tied.unknown > 0) {
      highest_unknown = score;
      unknown_at_highest = tied.unknown;
    }
  }
  if (static_cast<T>(highest_unknown + static_cast<T>(1e-5)) == highest_unknown) {
    pairs += 0.5 * total.wrong * unknown_at_highest;
  }
  return pairs / (static_cast<double>(total.known()) * total.unknown);
}

// The value that the released code computes: the AUROC (ties 1/2) after setting the scores of misclassified known
// samples to max r_u + 1e-5, in double or, with `in_float`, with all scores rounded to float. From |r| of about 1e11
// (double) or 256 (float) on, adding 1e-5 has no effect; those samples then tie with the largest r_u and the value is
// too large.
MetricResult OpenAucWithEpsilonMask(const RankedInput& ranked, bool in_float) {
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  if (ranked.total().unknown == 0) return AbsentWithoutUnknown();
  return in_float ? WithEpsilonMask<float>(ranked) : WithEpsilonMask<double>(ranked);
}

// Mean of COTPR over OFPR from `min_ofpr` to `max_ofpr`, 0 <= min_ofpr < max_ofpr <= 1. OFPR(t) is the share of unknown
// samples with r <= t, COTPR(t) the share of known samples that are classified correctly and have r <= t; points of
// distinct scores are joined by straight lines. In [0, accuracy], higher is better. Over [0, 1], it equals OpenAuc().
// Absent without known or without unknown samples.
MetricResult PartialOpenAuc(const RankedInput& ranked, double min_ofpr, double max_ofpr) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  // In samples: OFPR * unknown, COTPR * known.
  const double low = min_ofpr * total.unknown;
  const double high = max_ofpr * total.unknown;
  double area = 0;
  uint64_t unknown_below = 0;
  uint64_t correct_below = 0;
  for (const Tally& block : ranked.blocks()) {
    if (block.unknown > 0) {
      const double begin = std::max<double>(unknown_below, low);
      const double end = std::min<double>(unknown_below + block.unknown, high);
      if (begin < end) {
        // The line rises by block.correct over block.unknown; its height in the middle of [begin, end].
        const double middle = ((begin - unknown_below) + (end - unknown_below)) / 2 / block.unknown;
        area += (end - begin) * (correct_below + middle * block.correct);
      }
    }
    unknown_below += block.unknown;
    correct_below += block.correct;
  }
  return area / (high - low) / total.known();
}

}  // namespace

MetricResult OpenAuc(const RankedInput& ranked, TiedPairRule::Value tied) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  const uint64_t worth_of_tie = tied == TiedPairRule::NOTHING ? 0 : 1;
  uint64_t twice_pairs = 0;
  uint64_t correct_below = 0;
  for (const Tally& block : ranked.blocks()) {
    twice_pairs += block.unknown * (2 * correct_below + worth_of_tie * block.correct);
    correct_below += block.correct;
  }
  return static_cast<double>(twice_pairs) / (2.0 * total.known() * total.unknown);
}

Metric Make(const OpenAucMetricSpec& spec) {
  return {WithForm({"OpenAUC"}, spec.mask(), OpenAucMetricSpec::RANK),
          [mask = spec.mask()](const RankedInput& ranked) {
            return mask > OpenAucMetricSpec::RANK
                       ? OpenAucWithEpsilonMask(ranked, /*in_float=*/mask == OpenAucMetricSpec::EPSILON_FLOAT)
                       : OpenAuc(ranked);
          },
          SmallerSide};
}

Metric Make(const OpenAucStrictSpec&) {
  return {{"OpenAUC", "ties count 0"},
          [](const RankedInput& ranked) { return OpenAuc(ranked, TiedPairRule::NOTHING); },
          SmallerSide};
}

Metric Make(const PartialOpenAucSpec& spec) {
  return {{"partial OpenAUC", absl::StrCat("OFPR ", Number(spec.min_ofpr()), " to ", Number(spec.max_ofpr()))},
          [low = spec.min_ofpr(), high = spec.max_ofpr()](const RankedInput& ranked) {
            return low < high ? PartialOpenAuc(ranked, low, high)
                              : MetricResult::Absent("min_ofpr is not below max_ofpr");
          }};
}

}  // namespace openset
