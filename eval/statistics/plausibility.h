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

// Samples of one label and one prediction, which count classes in the same order.
struct LabelledPredictions {
  int label = 0;
  int prediction = 0;
  int64_t samples = 0;
};

// Classes in another order than the labels'.
struct ClassOrder {
  std::vector<int> prediction_of;  // [classes], the prediction that stands for each label: a permutation
  double accuracy = 0;             // with it
  double plain_accuracy = 0;       // without
};

// The one-to-one order by which the predictions fit the labels far better than as they are: label and prediction that
// are most often together first, then the next of those that are left. None where it gains less than 0.2 of the
// samples, where it fits less than half of them (outputs of a network that was never trained fit some order a little),
// or where predictions that know nothing of the labels could do as well in the best of all classes! orders:
// samples * KL(accuracy | p) <= log(classes!) + log(1000) with p the largest share that labels and predictions of
// these frequencies have together by chance (Chernoff's bound of each order, and as many orders).
// Preconditions: labels and predictions in 0 .. classes - 1, no pair of them twice, samples >= 0.
std::optional<ClassOrder> BetterOrder(absl::Span<const LabelledPredictions> counts, int classes);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_PLAUSIBILITY_H_
