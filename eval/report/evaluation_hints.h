// What looks like a mistake in samples that are evaluated, for a person to look at.
#ifndef OPENSET_EVAL_REPORT_EVALUATION_HINTS_H_
#define OPENSET_EVAL_REPORT_EVALUATION_HINTS_H_

#include <string>
#include <vector>

#include "eval/metrics/ranked_input.h"
#include "eval/statistics/plausibility.h"

namespace openset {

// Where the unknown score comes from: which advice helps.
enum class ScoreOrigin {
  kFile,         // larger = more unknown, as it stands there
  kFileNegated,  // as --higher_is_known says of it
  kOutputs,      // made of logits or features
};

// A line each, by the rules of eval/statistics/plausibility.h; none where nothing is suspicious:
//   predictions that fit the labels far better in another order of the classes, else
//   a closed-set accuracy that is no better than guessing (predictions that say unknown by themselves are left out);
//   an AUROC below 50 %.
// `ranked` is unweighted.
std::vector<std::string> EvaluationHints(const RankedInput& ranked, ScoreOrigin origin);

// "label 0 is prediction 2, label 2 is prediction 0": where they differ, at most six of them.
std::string OrderText(const ClassOrder& order);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_EVALUATION_HINTS_H_
