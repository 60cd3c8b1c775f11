#include "data/splits/draw_splits.h"

#include <cstdint>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/saturated.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// Weights of the numbers 0, 1, ..., whose sums are computed in O(log n) (a Fenwick tree).
class WeightSums {
 public:
  explicit WeightSums(const std::vector<uint64_t>& weight) : sum_(weight.size() + 1) {
    for (size_t i = 1; i < sum_.size(); ++i) {
      sum_[i] += weight[i - 1];
      total_ += weight[i - 1];
      if (const size_t above = i + (i & -i); above < sum_.size()) sum_[above] += sum_[i];
    }
  }

  uint64_t total() const { return total_; }

  // Returns the first number for which the sum of the weights up to and including its own is more than `point`.
  // Precondition: point < total().
  int Find(uint64_t point) const {
    size_t at = 0, step = 1;
    while (2 * step < sum_.size()) step *= 2;
    for (; step > 0; step /= 2) {
      if (at + step >= sum_.size() || sum_[at + step] > point) continue;
      at += step;
      point -= sum_[at];
    }
    return static_cast<int>(at);
  }

  void TakeAway(int number, uint64_t weight) {
    total_ -= weight;
    for (size_t i = number + 1; i < sum_.size(); i += i & -i) sum_[i] -= weight;
  }

 private:
  std::vector<uint64_t> sum_;  // sums of the last (i & -i) weights before i
  uint64_t total_ = 0;
};

// Draws `n` of the numbers 0, 1, ... without replacement, each with probability proportional to its weight among those
// that are left. Precondition: at least `n` weights are positive.
std::vector<int> DrawByWeight(const std::vector<uint64_t>& weight, int n, RandomStream* random) {
  WeightSums left(weight);
  std::vector<int> drawn;
  while (static_cast<int>(drawn.size()) < n) {
    const int chosen = left.Find(random->Below(left.total()));
    left.TakeAway(chosen, weight[chosen]);
    drawn.push_back(chosen);
  }
  return drawn;
}

// Draws `n` of the classes 0 to `classes` - 1.
std::vector<int> DrawClasses(DrawnSplits::ClassWeight class_weight, int classes, int n, RandomStream* random) {
  if (class_weight == DrawnSplits::CLASS_ID) {
    std::vector<uint64_t> weight(classes);
    std::iota(weight.begin(), weight.end(), 0);
    return DrawByWeight(weight, n, random);
  }
  const std::vector<int64_t> order = random->Permutation(classes);
  return {order.begin(), order.begin() + n};
}

// Returns how many classes of a pool can be drawn.
int Drawable(const DrawnSplits& rule, const ClassPool& pool) {
  return rule.class_weight() == DrawnSplits::CLASS_ID ? pool.classes - 1 : pool.classes;
}

}  // namespace

std::vector<OpennessLevel> PossibleLevels(const DrawnSplits& rule, const ClassPool& known, const ClassPool& unknown) {
  const bool one_data_set = known.data_set == unknown.data_set;
  std::vector<OpennessLevel> levels;
  for (int k = rule.min_known(); k < known.classes; ++k) {
    const int most = one_data_set ? known.classes - k : unknown.classes - 1;
    for (int u = 1; u <= most; ++u) {
      OpennessLevel& level = levels.emplace_back();
      level.set_known(k);
      level.set_unknown(u);
    }
  }
  return levels;
}

absl::StatusOr<std::vector<OpennessLevel>> LevelsOf(const DrawnSplits& rule, const ClassPool& known,
                                                    const ClassPool& unknown) {
  if ((rule.level_size() > 0) == (rule.levels() > 0)) {
    return absl::InvalidArgumentError("level: list the levels, or set `levels` to the number to draw");
  }
  std::vector<OpennessLevel> levels(rule.level().begin(), rule.level().end());
  if (rule.levels() > 0) {
    constexpr int64_t kMostPossible = 10000000;
    const int64_t most = SaturatedProduct(known.classes, unknown.classes);
    if (most > kMostPossible) {
      return absl::InvalidArgumentError(absl::StrCat("levels: ", known.classes, " known and ", unknown.classes,
                                                     " unknown classes have too many levels to draw from; list some in "
                                                     "`level`"));
    }
    const std::vector<OpennessLevel> possible = PossibleLevels(rule, known, unknown);
    if (rule.levels() > possible.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("levels: ", rule.levels(), " are more than the ", possible.size(), " that are possible"));
    }
    std::vector<uint64_t> weight;
    for (const OpennessLevel& level : possible) weight.push_back(level.known() + level.unknown());
    RandomStream random(rule.seed(), absl::StrCat(known.data_set, "/levels"));
    for (const int chosen : DrawByWeight(weight, rule.levels(), &random)) levels.push_back(possible[chosen]);
  }
  const bool one_data_set = known.data_set == unknown.data_set;
  for (size_t i = 0; i < levels.size(); ++i) {
    const int of_known = levels[i].known() + (one_data_set ? levels[i].unknown() : 0);
    const bool fits = of_known <= Drawable(rule, known) && levels[i].unknown() <= Drawable(rule, unknown);
    if (fits) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        rule.levels() > 0 ? "levels" : absl::StrCat("level[", i, "]"), ": ", levels[i].known(), " known and ",
        levels[i].unknown(), " unknown classes can't be drawn: '", known.data_set, "' has ", known.classes, " classes",
        one_data_set ? "" : absl::StrCat(", '", unknown.data_set, "' ", unknown.classes),
        rule.class_weight() == DrawnSplits::CLASS_ID ? ", and class 0 has weight 0" : ""));
  }
  return levels;
}

absl::StatusOr<std::vector<ClassSplit>> DrawSplits(const DrawnSplits& rule, const ClassPool& known,
                                                   const ClassPool& unknown) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<OpennessLevel> levels, LevelsOf(rule, known, unknown));
  std::vector<ClassSplit> splits;
  for (const OpennessLevel& level : levels) {
    for (int r = 0; r < rule.repeats(); ++r) {
      RandomStream random(rule.seed(), absl::StrCat(known.data_set, "/known ", level.known(), ", unknown ",
                                                    level.unknown(), "/draw ", r));
      ClassSplit& split = splits.emplace_back();
      const int first = known.data_set == unknown.data_set ? level.known() + level.unknown() : level.known();
      const std::vector<int> drawn = DrawClasses(rule.class_weight(), known.classes, first, &random);
      for (int i = 0; i < first; ++i) {
        i < level.known() ? split.add_known(drawn[i]) : split.add_unknown(drawn[i]);
      }
      if (first > level.known()) continue;
      for (const int id : DrawClasses(rule.class_weight(), unknown.classes, level.unknown(), &random)) {
        split.add_unknown(id);
      }
    }
  }
  return splits;
}

}  // namespace openset
