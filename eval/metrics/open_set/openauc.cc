#include "eval/metrics/open_set/openauc.h"

#include <algorithm>
#include <cstdint>

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

}  // namespace

MetricResult OpenAuc(const RankedInput& ranked, TiedPair tied) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  const uint64_t worth_of_tie = tied == TiedPair::kHalf ? 1 : 0;
  uint64_t twice_pairs = 0;
  uint64_t correct_below = 0;
  for (const Tally& block : ranked.blocks()) {
    twice_pairs += block.unknown * (2 * correct_below + worth_of_tie * block.correct);
    correct_below += block.correct;
  }
  return static_cast<double>(twice_pairs) / (2.0 * total.known() * total.unknown);
}

MetricResult OpenAucWithEpsilonMask(const RankedInput& ranked, bool in_float) {
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  if (ranked.total().unknown == 0) return AbsentWithoutUnknown();
  return in_float ? WithEpsilonMask<float>(ranked) : WithEpsilonMask<double>(ranked);
}

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

MetricResult OpenAuc(const RankedInput& ranked, const OpenAucMetricSpec& spec) {
  switch (spec.mask()) {
    case OpenAucMetricSpec::EPSILON_DOUBLE:
      return OpenAucWithEpsilonMask(ranked, /*in_float=*/false);
    case OpenAucMetricSpec::EPSILON_FLOAT:
      return OpenAucWithEpsilonMask(ranked, /*in_float=*/true);
    case OpenAucMetricSpec::MASK_UNSPECIFIED:
    case OpenAucMetricSpec::RANK:
      break;
  }
  return OpenAuc(ranked);
}

MetricResult PartialOpenAuc(const RankedInput& ranked, const PartialOpenAucSpec& spec) {
  if (spec.min_ofpr() >= spec.max_ofpr()) return MetricResult::Absent("min_ofpr is not below max_ofpr");
  return PartialOpenAuc(ranked, spec.min_ofpr(), spec.max_ofpr());
}

}  // namespace openset
