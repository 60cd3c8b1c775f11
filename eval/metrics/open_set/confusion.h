// The decisions for the samples of each class at a threshold.
#ifndef OPENSET_EVAL_METRICS_OPEN_SET_CONFUSION_H_
#define OPENSET_EVAL_METRICS_OPEN_SET_CONFUSION_H_

#include <cstdint>
#include <optional>
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

  int64_t at(int32_t row, int32_t column) const { return counts[row * (num_classes + 1) + column]; }
};

// With a threshold of infinity nothing is rejected, which gives the closed-set decisions. Preconditions: the threshold
// is not NaN; the input has predictions.
ConfusionMatrix ConfusionAt(const RankedInput& ranked, double threshold);

// For each known class, the share of its samples on the matrix's diagonal (for closed-set decisions, the accuracy of
// the class); absent for a class without samples.
std::vector<std::optional<double>> AccuracyPerClass(const ConfusionMatrix& confusion);

// CSV: the header "class,0,1,...,rejected", then a line for each class, the last one "unknown,...". Classes are named
// by `names`; those beyond its end by their numbers.
std::string ConfusionCsv(const ConfusionMatrix& confusion, absl::Span<const std::string> names = {});

// CSV: "class,samples,accuracy" and a line for each known class, named as above. The accuracy of a class without
// samples is empty.
std::string AccuracyPerClassCsv(const ConfusionMatrix& confusion, absl::Span<const std::string> names = {});

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_OPEN_SET_CONFUSION_H_
