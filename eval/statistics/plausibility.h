// Signs of common mistakes in measured numbers. Each requires more than chance can explain. They are hints: a network
// or a score may really be that bad.
#ifndef OPENSET_EVAL_STATISTICS_PLAUSIBILITY_H_
#define OPENSET_EVAL_STATISTICS_PLAUSIBILITY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace openset {

// Whether this number of correct predictions is no better than guessing: the 95 % interval of the accuracy (Clopper and
// Pearson) includes 1 / classes, and ends below the midpoint between that and 1, so that a small number of samples
// alone is not a sign. Preconditions: 0 <= correct <= samples, samples > 0, classes > 0. False for one class.
bool IsNearChance(int64_t correct, int64_t samples, int classes);

// Whether an AUROC is below 1/2 by more than three times the largest standard error that it can have without any
// difference: 1 / (2 sqrt(min(known, unknown))) (Birnbaum and Klose 1957). Preconditions: 0 <= auroc <= 1, both > 0.
bool IsBelowHalf(double auroc, int64_t known, int64_t unknown);

// The number of samples with one label and one prediction, both in the same order of classes.
struct LabelledPredictions {
  int label = 0;
  int prediction = 0;
  int64_t samples = 0;
};

// Another order of classes than the labels'.
struct ClassOrder {
  std::vector<int> prediction_of;  // [classes], the prediction for each label: a permutation
  double accuracy = 0;             // with this order
  double plain_accuracy = 0;       // with the labels' order
};

// Returns the order of classes with which the predictions fit the labels far better than without. Assigns the most
// frequent pair of label and prediction first, then the most frequent one of the remaining labels and predictions.
// Returns nothing if the order gains less than 0.2 of the samples; if it fits less than half of them (outputs of an
// untrained network fit some order a little); or if predictions that are independent of the labels could do as well in
// the best of all classes! orders: samples * KL(accuracy | p) <= log(classes!) + log(1000), where p is the largest
// agreement by chance for these frequencies of labels and predictions (Chernoff's bound, for each order).
// Preconditions: labels and predictions in 0 .. classes - 1, no pair of them twice, samples >= 0.
std::optional<ClassOrder> BetterOrder(absl::Span<const LabelledPredictions> counts, int classes);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_PLAUSIBILITY_H_
