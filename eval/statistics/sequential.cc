#include "eval/statistics/sequential.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "eval/statistics/intervals.h"

namespace openset {
namespace {

constexpr int kDraws = 160000;
constexpr int kStrata = 200;  // of the last look's p-value

// The squared cosine of the angle between the replicates and (1, ..., 1) at which the test rejects at `level`.
double RejectedCosine(double level, int replicates) {
  const double t = StudentTTwoSidedQuantile(level, replicates - 1);
  return t * t / (t * t + replicates - 1);
}

// A direction orthogonal to (1, ..., 1): for each earlier look, the sum and the sum of squares of its components.
struct Direction {
  std::vector<double> sum, squares;
};

// `replicates`: of the looks so far, ascending.
std::vector<Direction> DrawDirections(absl::Span<const int> replicates) {
  RandomStream random(0, absl::StrCat("sequential/", absl::StrJoin(replicates, ",")));
  std::vector<Direction> directions(kDraws);
  const int last = replicates.back();
  for (Direction& direction : directions) {
    double sum = 0, squares = 0;
    int earlier = 0;
    for (const int now : replicates) {
      const double block = std::sqrt(now - earlier) * random.Normal();
      const int more = now - earlier - 1;
      sum += block;
      squares += block * block / (now - earlier) + (more > 0 ? 2 * random.Gamma(more / 2.0) : 0);
      direction.sum.push_back(sum);
      direction.squares.push_back(squares);
      earlier = now;
    }
    const double mean = sum / last, norm = std::sqrt(squares - last * mean * mean);
    for (size_t j = 0; j < replicates.size(); ++j) {
      const double all = direction.sum[j];
      direction.sum[j] = (all - replicates[j] * mean) / norm;
      direction.squares[j] = (direction.squares[j] - 2 * mean * all + replicates[j] * mean * mean) / (norm * norm);
    }
  }
  return directions;
}

// The share of the last look's rejections at `level` that follow no rejection, plus two standard errors, so that the
// draws' error makes the levels too small rather than too large. Earlier look j rejects from cosine[j] on.
double FirstShare(const std::vector<Direction>& directions, absl::Span<const int> replicates,
                  const std::vector<double>& cosine, double level) {
  const double last = replicates.back();
  double of_stratum[kStrata];
  for (int s = 0; s < kStrata; ++s) of_stratum[s] = RejectedCosine(level * (s + 0.5) / kStrata, replicates.back());
  int first = 0;
  for (int d = 0; d < kDraws; ++d) {
    const Direction& direction = directions[d];
    const double along = std::sqrt(of_stratum[d % kStrata] / last), across = std::sqrt(1 - of_stratum[d % kStrata]);
    bool rejected = false;
    for (size_t j = 0; j < cosine.size() && !rejected; ++j) {
      const double n = replicates[j];
      const double sum = along * n + across * direction.sum[j];
      const double squares =
          along * along * n + 2 * along * across * direction.sum[j] + across * across * direction.squares[j];
      rejected = sum * sum >= cosine[j] * n * squares;
    }
    first += !rejected;
  }
  const double share = static_cast<double>(first) / kDraws;
  return std::min(1.0, share + 2 * std::sqrt(share * (1 - share) / kDraws));
}

}  // namespace

double SpentLevel(double level, double share) { return level * share * share; }

std::vector<double> NominalLevels(absl::Span<const int> replicates, absl::Span<const double> spent) {
  constexpr int kHalvings = 20;
  std::vector<double> levels, cosine;
  for (size_t k = 0; k < replicates.size(); ++k) {
    const double spends = spent[k] - (k == 0 ? 0 : spent[k - 1]);
    double low = spends, high = spent[k];
    const bool is_new = k == 0 || replicates[k] > replicates[k - 1];
    if (spends > 0 && is_new && k > 0) {
      const absl::Span<const int> so_far = replicates.subspan(0, k + 1);
      const std::vector<Direction> directions = DrawDirections(so_far);
      for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2;
        (middle * FirstShare(directions, so_far, cosine, middle) < spends ? low : high) = middle;
      }
    }
    levels.push_back(low);
    // A level of 0 never rejects.
    cosine.push_back(low > 0 ? RejectedCosine(low, replicates[k]) : std::numeric_limits<double>::infinity());
  }
  return levels;
}

SequentialDesign MakeSequentialDesign(const Look& first, const Look& most, double level) {
  constexpr int kSteps = 4, kSeedSteps = 2;
  SequentialDesign design;
  Look look = first;
  design.looks.push_back(look);
  const int more_splits = (most.splits - first.splits + kSteps - 1) / kSteps;
  while (look.splits < most.splits) {
    look.splits = std::min(look.splits + more_splits, most.splits);
    design.looks.push_back(look);
  }
  const int more_seeds = (most.seeds - first.seeds + kSeedSteps - 1) / kSeedSteps;
  while (look.seeds < most.seeds) {
    look.seeds = std::min(look.seeds + more_seeds, most.seeds);
    design.looks.push_back(look);
  }
  std::vector<int> splits;
  std::vector<double> spent;
  for (const Look& at : design.looks) {
    splits.push_back(at.splits);
    spent.push_back(SpentLevel(level, static_cast<double>(at.runs()) / most.runs()));
  }
  design.levels = NominalLevels(splits, spent);
  return design;
}

absl::StatusOr<LookResult> LookAt(const SequentialDesign& design, size_t look, absl::Span<const double> a,
                                  absl::Span<const double> b, absl::Span<const int> split, double difference) {
  constexpr double kLeastLevel = 1e-12;  // below it, 1 - level is no longer exact
  LookResult result;
  result.low = -std::numeric_limits<double>::infinity();
  result.high = std::numeric_limits<double>::infinity();
  const double level = design.levels[look];
  PairedTestOptions options;
  if (level >= kLeastLevel) options.confidence = 1 - level;
  OPENSET_ASSIGN_OR_RETURN(result.test, ComparePairedRuns(a, b, split, options));
  if (level < kLeastLevel || result.test.differences != Differences::kVary) return result;
  result.low = result.test.low;
  result.high = result.test.high;
  if (result.low > 0) {
    result.finding = Finding::kALarger;
  } else if (result.high < 0) {
    result.finding = Finding::kBLarger;
  } else if (result.low > -difference && result.high < difference) {
    result.finding = Finding::kExcluded;
  }
  return result;
}

}  // namespace openset
