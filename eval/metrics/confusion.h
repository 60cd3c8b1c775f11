// The decisions for the samples of each class at a threshold.
#ifndef OPENSET_EVAL_METRICS_CONFUSION_H_
#define OPENSET_EVAL_METRICS_CONFUSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// The number of samples by class and decision. Row c < C is known class c; row C is unknown samples. Column c < C is
// accepted as class c; column C is rejected (unknown score above the threshold).
struct ConfusionMatrix {
  int32_t num_classes = 0;      // C
  std::vector<int64_t> counts;  // [(C + 1) * (C + 1)], row-major

  int64_t at(int32_t row, int32_t column) const { return counts[row * (int64_t{num_classes} + 1) + column]; }
};

// The most classes of a matrix: its numbers take 200 MB, as text five times that.
inline constexpr int32_t kMostConfusionClasses = 5000;

// With a threshold of infinity nothing is rejected, which gives the closed-set decisions. Preconditions: the threshold
// is not NaN; the input has predictions, and at most kMostConfusionClasses.
ConfusionMatrix ConfusionAt(const RankedInput& ranked, double threshold);

// The samples of a known class, and those among them that are classified as it.
struct ClassCount {
  int64_t samples = 0;
  int64_t correct = 0;
};

// [C], by closed-set decisions, for any number of classes. Precondition: the input has predictions.
std::vector<ClassCount> CountPerClass(const RankedInput& ranked);

// CSV: the header "class,0,1,...,rejected", then a line for each class, the last one "unknown,...". Classes are named
// by `names`; those beyond its end by their numbers.
std::string ConfusionCsv(const ConfusionMatrix& confusion, absl::Span<const std::string> names = {});

// CSV: "class,samples,accuracy" and a line for each known class, named as above. The accuracy of a class without
// samples is empty. Precondition: as CountPerClass().
std::string AccuracyPerClassCsv(const RankedInput& ranked, absl::Span<const std::string> names = {});

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_CONFUSION_H_
