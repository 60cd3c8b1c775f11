// What outputs are: logits or what a softmax or a sigmoid makes of them, and whether each is for a class.
#ifndef OPENSET_EVAL_SCORES_OUTPUT_KIND_H_
#define OPENSET_EVAL_SCORES_OUTPUT_KIND_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "eval/scores/score.pb.h"

namespace openset {

enum class OutputKind {
  kLogits,
  kWithinOne,         // all lie in [0, 1] and are not probabilities of the classes: of a sigmoid, probably
  kProbabilities,     // all lie in [0, 1], and each row sums to 1
  kPercentages,       // 100 times kProbabilities
  kLogProbabilities,  // the exponentials of each row sum to 1 (or to 100), so that they have no level of their own
};

// The kind of `outputs`, [N, num_outputs] row-major. Sums may differ by 1 % (of exponentials, by 2 %), as in half
// precision, and sums of three or more by 0.5 % for each, as with two decimals, at most by 10 %. kLogits if there are
// no rows or fewer than two outputs. Every row must agree, so the first row of a network's logits usually ends the
// search.
OutputKind KindOf(absl::Span<const float> outputs, int64_t num_outputs);

// Errors: kInvalidArgument for a score of log-probabilities that reads the level of the logits (core/proto/traits.h).
absl::Status CheckLevel(const ScoreSpec& spec, OutputKind kind);

// Whether a score takes each output for a class, so that a large output for the unknown would make a sample look known:
// not if it has the trait `extra_output` or `no_logits` (core/proto/traits.proto). An ensemble does if one of its
// scores does.
bool TakesOutputsForClasses(const ScoreSpec& spec);

// "takes each of 5 outputs for a class, and there are 4: ..."; "" if the score doesn't, or all outputs are of classes.
std::string ExtraOutputText(const ScoreSpec& spec, int64_t num_outputs, int64_t num_classes);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_OUTPUT_KIND_H_
