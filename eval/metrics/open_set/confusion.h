// What is decided of the samples of each class at a threshold.
#ifndef OPENSET_EVAL_METRICS_OPEN_SET_CONFUSION_H_
#define OPENSET_EVAL_METRICS_OPEN_SET_CONFUSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// Samples by class and decision: row c < C is the known class c, row C are the unknown samples; column c < C is
// accepted as class c, column C is rejected (unknown score above the threshold).
struct ConfusionMatrix {
  int32_t num_classes = 0;      // C
  std::vector<int64_t> counts;  // [(C + 1) * (C + 1)], row-major

  int64_t at(int32_t row, int32_t column) const { return counts[row * (num_classes + 1) + column]; }
};

// At a threshold of infinity nothing is rejected: the closed-set decisions. Precondition: not NaN; the input has
// predictions.
ConfusionMatrix ConfusionAt(const RankedInput& ranked, double threshold);

// Of each known class, the share of its samples that the matrix has on its diagonal (closed set: accuracy per class);
// none for a class without samples.
std::vector<std::optional<double>> AccuracyPerClass(const ConfusionMatrix& confusion);

// A header, then a line a class, "class,0,1,...,rejected" and "unknown,...". Classes are called by `names`, and by
// their numbers where that is shorter.
std::string ConfusionCsv(const ConfusionMatrix& confusion, absl::Span<const std::string> names = {});

// "class,samples,accuracy" and a line a known class, called as above; no accuracy for one without samples.
std::string AccuracyPerClassCsv(const ConfusionMatrix& confusion, absl::Span<const std::string> names = {});

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_OPEN_SET_CONFUSION_H_
