// False positive rate at a true positive rate of 95 %, or another one: the share of the negative samples on the
// positive side of the threshold. In [0, 1], lower is better. If known samples are positive, the share of unknown
// samples that are accepted if 95 % of the known samples are; if unknown samples are, the share of known samples that
// are rejected if 95 % of the unknown samples are. FprAtTprSpec says which tools use which rule. Absent without known
// or without unknown samples.
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

// The number of positive and negative samples that are at least as positive as each distinct score that counts, from
// the most positive on: an ROC curve without its origin.
struct RocPoint {
  int64_t hits = 0;
  int64_t alarms = 0;
};

// The blocks from the most positive on.
class PositiveFirst {
 public:
  PositiveFirst(const RankedInput& ranked, bool unknown_positive)
      : ranked_(ranked), unknown_positive_(unknown_positive) {}

  int64_t num_blocks() const { return ranked_.blocks().size(); }
  int64_t hits() const { return unknown_positive_ ? ranked_.total().unknown : ranked_.total().known(); }
  int64_t alarms() const { return ranked_.total().all() - hits(); }
  RocPoint Rise(int64_t i) const {
    const Tally& tally = ranked_.blocks()[Block(i)];
    return unknown_positive_ ? RocPoint{tally.unknown, tally.known()} : RocPoint{tally.known(), tally.unknown};
  }
  // Larger = more positive.
  double Score(int64_t i) const {
    const double score = ranked_.ranking().Score(Block(i));
    return unknown_positive_ ? score : -score;
  }

 private:
  int64_t Block(int64_t i) const { return unknown_positive_ ? num_blocks() - 1 - i : i; }

  const RankedInput& ranked_;
  bool unknown_positive_;
};

bool Reaches95Percent(int64_t hits, int64_t all) { return 100 * hits >= 95 * all; }

// A level such as 0.8 still means k of n if rounding has made it larger than k / n.
constexpr double kRounding = 1e-12;

int64_t AlarmsAtFirstReaching(const PositiveFirst& curve) {
  RocPoint point;
  for (int64_t i = 0; i < curve.num_blocks(); ++i) {
    const RocPoint rise = curve.Rise(i);
    point.hits += rise.hits;
    point.alarms += rise.alarms;
    if (Reaches95Percent(point.hits, curve.hits())) break;
  }
  return point.alarms;
}

int64_t AlarmsAtFirstCornerReaching(const PositiveFirst& curve) {
  // A point is a corner unless the blocks before and after it rise by the same counts; the first and the last are.
  RocPoint point;
  RocPoint rise;
  bool first = true;
  for (int64_t i = 0; i < curve.num_blocks(); ++i) {
    const RocPoint next = curve.Rise(i);
    if (next.hits + next.alarms == 0) continue;
    const bool corner = first || next.hits != rise.hits || next.alarms != rise.alarms;
    if (!first && corner && Reaches95Percent(point.hits, curve.hits())) return point.alarms;
    point.hits += next.hits;
    point.alarms += next.alarms;
    if (first && Reaches95Percent(point.hits, curve.hits())) return point.alarms;
    rise = next;
    first = false;
  }
  return point.alarms;
}

// In doubles as in the released code, so that the choice between equally near shares is the same.
double DistanceTo95Percent(int64_t hits, int64_t all) { return std::abs(static_cast<double>(hits) / all - 0.95); }

int64_t AlarmsAtNearest(const PositiveFirst& curve) {
  // Goes up to full recall. Of equally near points, uses the last; of points with full recall, the first.
  RocPoint point;
  double nearest = 2;
  int64_t alarms = 0;
  for (int64_t i = 0; i < curve.num_blocks() && point.hits < curve.hits(); ++i) {
    const RocPoint rise = curve.Rise(i);
    if (rise.hits + rise.alarms == 0) continue;
    point.hits += rise.hits;
    point.alarms += rise.alarms;
    const double distance = DistanceTo95Percent(point.hits, curve.hits());
    if (distance <= nearest) {
      nearest = distance;
      alarms = point.alarms;
    }
  }
  return alarms;
}

int64_t AlarmsAtNearestWalk(const PositiveFirst& curve) {
  const int64_t n = curve.hits();
  int64_t kept = n;
  while (kept > 0 && DistanceTo95Percent(kept - 1, n) < DistanceTo95Percent(kept, n)) --kept;
  if (kept == n) return curve.alarms();
  // Negative samples at or above the last positive one that was dropped, the (kept + 1)-th from the most positive on.
  RocPoint point;
  for (int64_t i = 0; i < curve.num_blocks() && point.hits <= kept; ++i) {
    const RocPoint rise = curve.Rise(i);
    point.hits += rise.hits;
    point.alarms += rise.alarms;
  }
  return point.alarms;
}

int64_t AlarmsAtStrictQuantile(const PositiveFirst& curve) {
  // The positive sample of rank round(0.05 n) from below, from 0 and half to even, is the (n - rank)-th from above.
  const int64_t n = curve.hits();
  const int64_t place = n - static_cast<int64_t>(std::nearbyint(0.05 * static_cast<double>(n)));
  RocPoint point;
  for (int64_t i = 0; i < curve.num_blocks(); ++i) {
    const RocPoint rise = curve.Rise(i);
    point.hits += rise.hits;
    if (point.hits >= place) break;
    point.alarms += rise.alarms;
  }
  return point.alarms;
}

// The same with FIRST_REACHING at any true positive rate.
MetricResult FprAtTpr(const RankedInput& ranked, bool unknown_positive, double tpr) {
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  if (ranked.total().unknown == 0) return AbsentWithoutUnknown();
  const PositiveFirst curve(ranked, unknown_positive);
  const double wanted = tpr * static_cast<double>(curve.hits()) * (1 - kRounding);
  RocPoint point;
  for (int64_t i = 0; i < curve.num_blocks(); ++i) {
    const RocPoint rise = curve.Rise(i);
    point.hits += rise.hits;
    point.alarms += rise.alarms;
    if (point.hits > 0 && static_cast<double>(point.hits) >= wanted) break;
  }
  return static_cast<double>(point.alarms) / curve.alarms();
}

// Correct classification rate at a false positive rate (Dhamija et al. 2018): the share of known samples that are
// accepted and classified correctly at the largest threshold that accepts at most the share `fpr` of the unknown
// samples. Samples with equal scores are accepted together. With BELOW_RANK, those with less than the score of the
// unknown sample of that rank are accepted, in doubles as in the released code. In [0, 1], higher is better.
MetricResult CcrAtFpr(const RankedInput& ranked, double fpr, CcrAtFprSpec::Rule rule) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  const bool below_rank = rule == CcrAtFprSpec::BELOW_RANK;
  if (below_rank && fpr == 0) return MetricResult::Absent("rule BELOW_RANK: no unknown sample has rank 0");
  const double allowed =
      below_rank ? std::ceil(fpr * static_cast<double>(total.unknown)) - 1 : fpr * total.unknown * (1 + kRounding);
  int64_t unknown = 0;
  int64_t correct = 0;
  for (const Tally& block : ranked.blocks()) {
    unknown += block.unknown;
    if (static_cast<double>(unknown) > allowed) break;
    correct += block.correct;
  }
  return static_cast<double>(correct) / total.known();
}

// GRID_MEAN: the share of negative samples above a threshold d, averaged over the thresholds, of 100,000 equally spaced
// ones from `low` to `high` (excluded), that 94.95 % to 95.05 % of the positive samples reach (>= d). Compares the
// unknown score, or minus the unknown score if known samples are positive. Without a range, from the lowest to the
// highest value. Also absent if there is no such threshold, and if high - low is not finite, as without a range if
// scores are infinite.
MetricResult FprAt95TprOnGrid(const RankedInput& ranked, bool unknown_positive,
                              std::optional<std::pair<double, double>> range) {
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  if (ranked.total().unknown == 0) return AbsentWithoutUnknown();
  constexpr int kThresholds = 100000;
  const PositiveFirst curve(ranked, unknown_positive);
  const auto [low, high] = range.value_or(std::make_pair(curve.Score(curve.num_blocks() - 1), curve.Score(0)));
  if (!std::isfinite(high - low)) {
    return MetricResult::Absent(
        "the grid has no finite range: the scores are infinite or too large; give the metric one");
  }
  double sum = 0;
  int64_t thresholds = 0;
  int64_t block = 0;
  RocPoint reached;  // score >= threshold
  RocPoint above;    // score > threshold
  int64_t above_block = 0;
  for (int i = kThresholds - 1; i >= 0; --i) {
    const double threshold = low + i * ((high - low) / kThresholds);
    for (; block < curve.num_blocks() && curve.Score(block) >= threshold; ++block)
      reached.hits += curve.Rise(block).hits;
    for (; above_block < curve.num_blocks() && curve.Score(above_block) > threshold; ++above_block) {
      above.alarms += curve.Rise(above_block).alarms;
    }
    const double tpr = static_cast<double>(reached.hits) / curve.hits();
    if (tpr >= 0.9495 && tpr <= 0.9505) {
      sum += static_cast<double>(above.alarms) / curve.alarms();
      ++thresholds;
    }
  }
  if (thresholds == 0)
    return MetricResult::Absent("no threshold of the grid has a true positive rate of 94.95 % to 95.05 %");
  return sum / thresholds;
}

MetricResult FprAt95Tpr(const RankedInput& ranked, bool unknown_positive, const FprAtTprSpec& spec) {
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  if (ranked.total().unknown == 0) return AbsentWithoutUnknown();
  const PositiveFirst curve(ranked, unknown_positive);
  const auto share = [&](int64_t alarms) { return static_cast<double>(alarms) / curve.alarms(); };
  switch (spec.rule()) {
    case FprAtTprSpec::FIRST_REACHING_CORNERS:
      return share(AlarmsAtFirstCornerReaching(curve));
    case FprAtTprSpec::NEAREST:
      return share(AlarmsAtNearest(curve));
    case FprAtTprSpec::NEAREST_WALK:
      return share(AlarmsAtNearestWalk(curve));
    case FprAtTprSpec::STRICT_QUANTILE:
      return share(AlarmsAtStrictQuantile(curve));
    case FprAtTprSpec::GRID_MEAN: {
      std::optional<std::pair<double, double>> range;
      if (spec.has_grid_low()) range = {spec.grid_low(), spec.grid_high()};
      return FprAt95TprOnGrid(ranked, unknown_positive, range);
    }
    case FprAtTprSpec::RULE_UNSPECIFIED:
    case FprAtTprSpec::FIRST_REACHING:
      break;
  }
  return share(AlarmsAtFirstReaching(curve));
}

}  // namespace

Metric Make(const FprAtTprSpec& spec, MetricSpec::KindCase kind) {
  const bool unknown_positive = kind == MetricSpec::kFprAt95TprUnknownPositive;
  return {WithForm({"FPR95", PositiveText(unknown_positive)}, spec.rule(), FprAtTprSpec::FIRST_REACHING),
          [unknown_positive, spec](const RankedInput& ranked) { return FprAt95Tpr(ranked, unknown_positive, spec); },
          unknown_positive ? KnownSamples : UnknownSamples};
}

Metric Make(const FprAtLevelSpec& spec) {
  const bool unknown_positive = spec.positive() == FprAtLevelSpec::UNKNOWN;
  return {{absl::StrCat("FPR at ", Percent(spec.tpr()), " TPR"), PositiveText(unknown_positive)},
          [unknown_positive, tpr = spec.tpr()](const RankedInput& ranked) {
            return FprAtTpr(ranked, unknown_positive, tpr);
          },
          unknown_positive ? KnownSamples : UnknownSamples};
}

Metric Make(const CcrAtFprSpec& spec) {
  const bool below_rank = spec.rule() == CcrAtFprSpec::BELOW_RANK;
  return {{absl::StrCat("CCR at ", Percent(spec.fpr()), " FPR"),
           below_rank ? "known positive, below the rank" : "known positive"},
          [fpr = spec.fpr(), rule = spec.rule()](const RankedInput& ranked) { return CcrAtFpr(ranked, fpr, rule); },
          KnownSamples};
}

}  // namespace openset
