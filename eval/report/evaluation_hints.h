// Hints about likely mistakes in evaluated samples, for users to check.
#ifndef OPENSET_EVAL_REPORT_EVALUATION_HINTS_H_
#define OPENSET_EVAL_REPORT_EVALUATION_HINTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "eval/files/sample_set.h"
#include "eval/metrics/ranked_input.h"
#include "eval/statistics/plausibility.h"

namespace openset {

// The source of the unknown score, which determines the advice.
enum class ScoreOrigin {
  kFile,         // larger = more unknown, unchanged
  kFileNegated,  // negated because of --higher_is_known
  kOutputs,      // computed from logits or features
};

// Returns the hints of `samples`, and a line for each suspicious property, by the rules of
// eval/statistics/plausibility.h:
//   labels that are 1 .. C-1, without logits, names or num_classes, if class 0 is never predicted or the predictions
//   fit the labels less 1 better; otherwise, predictions that fit the labels far better in another order of the
//   classes; otherwise, a closed-set accuracy that is no better than guessing (without predictions of "unknown"); a
//   label that marks unknown samples in another way than -1: it has such a name, and is never predicted or no sample is
//   unknown; or no sample is unknown, and it is the only label that is never predicted, if it is the first, the last or
//   a name; or, without predictions, it is far above the others; the last of three or more outputs without samples, if
//   the files don't give num_classes; labels that are only 0 and 1, without predictions of two classes: probably marks
//   of known and unknown; an AUROC below 50 %.
// `ranked` is `samples` ranked, unweighted.
std::vector<std::string> EvaluationHints(const SampleSet& samples, const RankedInput& ranked, ScoreOrigin origin);

// "label 0 is prediction 2, label 2 is prediction 0": the differences, at most six.
std::string OrderText(const ClassOrder& order);

// Descriptions without advice, for samples of files and for trials (experiments/report/hints.h).
// "accuracy is 16.7 % on 300 known samples, no better than guessing among 6 classes". Precondition: samples > 0.
std::string NearChanceText(int64_t correct, int64_t samples, int classes);
// "accuracy is 3.6 %, and 96.4 % with the known classes in another order".
std::string OtherOrderText(const ClassOrder& order);
// For an AUROC below 50 %.
inline constexpr char kBelowHalfText[] = "known samples have the larger unknown scores";

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_EVALUATION_HINTS_H_
