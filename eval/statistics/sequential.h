// Comparisons of two methods that are looked at several times while splits and seeds are added (group-sequential).
#ifndef OPENSET_EVAL_STATISTICS_SEQUENTIAL_H_
#define OPENSET_EVAL_STATISTICS_SEQUENTIAL_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/statistics/paired_tests.h"

namespace openset {

// The part of `level` that looks up to this share of all runs may spend: level * share^2, of Kim and DeMets' family
// (1987). Preconditions: 0 <= share <= 1.
double SpentLevel(double level, double share);

// The two-sided nominal level of each look, so that without a difference the t test over the first replicates[k] of the
// same normal replicates rejects at its level at look k or before with a probability of spent[k] (Lan and DeMets 1983,
// for Student's t instead of the normal distribution, with which the first looks at few replicates would reject too
// often). Look k rejects for the first time with a probability of its level times the share of rejections that follow
// no earlier one. That share comes from 160,000 draws of the earlier looks, given that look k rejects: the direction of
// the vector of replicates is uniform whatever their variance, so a rejection fixes only its angle to (1, ..., 1). Its
// standard error is below 0.0015, and two of them are added to it. A look without new replicates spends its part alone,
// whatever the others do. 0 for a look that spends nothing. Preconditions: equal lengths; 2 <= replicates, not
// descending; 0 <= spent < 1, not descending.
std::vector<double> NominalLevels(absl::Span<const int> replicates, absl::Span<const double> spent);

// The number of splits, and of seeds of each.
struct Look {
  int splits = 0;
  int seeds = 0;
  int runs() const { return splits * seeds; }
};

// When a comparison is looked at, and the level of each look's interval.
struct SequentialDesign {
  std::vector<Look> looks;
  std::vector<double> levels;
};

// The looks begin with `first`. They add splits in at most four equal steps, up to most.splits, then seeds in at most
// two: a run of a new split reduces the variance of the mean by the parts of splits and of seeds, a run of a new seed
// only by the latter. Up to a look, SpentLevel() of its share of the runs may be spent. `level` is this comparison's:
// of several, each has its part. Preconditions: kFewestReplicates <= first.splits <= most.splits, 1 <= first.seeds <=
// most.seeds, 0 < level < 1.
SequentialDesign MakeSequentialDesign(const Look& first, const Look& most, double level);

// What a look shows about a - b.
enum class Finding {
  kOpen,
  kALarger,
  kBLarger,
  kExcluded,  // the interval includes 0, and no difference of the size that matters, on either side
};

struct LookResult {
  Finding finding = Finding::kOpen;
  // Infinite if the look spends almost nothing, or all differences are equal.
  double low = 0, high = 0;
  PairedTest test;
};

// Looks at a comparison: at the interval of ComparePairedRuns(), at the level of this look (repeated confidence
// intervals, Jennison and Turnbull 1989). If the means of splits are normal, no look's interval misses the true
// difference with a probability of at least 1 - level, whatever is decided at the looks: at most `level` of all
// comparisons find a difference that is not there, or exclude one that is. `a`, `b`, `split` are the runs of the look.
// Errors, kInvalidArgument: lengths that disagree, fewer than 2 runs, a value that is not finite (with its run).
// Precondition: difference > 0.
absl::StatusOr<LookResult> LookAt(const SequentialDesign& design, size_t look, absl::Span<const double> a,
                                  absl::Span<const double> b, absl::Span<const int> split, double difference);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_SEQUENTIAL_H_
