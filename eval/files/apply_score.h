// Computes an unknown score from the outputs in files.
#ifndef OPENSET_EVAL_FILES_APPLY_SCORE_H_
#define OPENSET_EVAL_FILES_APPLY_SCORE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "eval/files/sample_set.h"
#include "eval/scores/score.h"
#include "eval/scores/score.pb.h"

namespace openset {

// Describes the score, with its explicit settings, and its input: "max_logit of the logits",
// "energy { temperature: 2 } of the logits". Precondition: a member of the spec is set.
std::string ScoreText(const ScoreSpec& spec);

// Sets `unknown_score`, and predictions and probabilities if the score has its own, by computing a score from the
// outputs. A score that must be fitted is fitted to the known samples of `train`, unless that is null. Errors:
// kInvalidArgument, with the score's name, if the files lack outputs that it needs, if it reads the
// level of logits that are log-probabilities, if the spec violates its schema's
// rules, or if logits of `train` are not of the samples' classes in the same order (their number, num_classes and
// class_names must agree) or of another network (CheckSameNetwork() in eval/files/same_network.h), with both files, or
// if `train` lacks a class that the samples have and the score is fitted to each class; other scores then add a hint.
// `fitted`, unless null, is FitScore() of the same `spec` and `train`, which is then not fitted again.
// Precondition: a member of the spec is set.
absl::Status ApplyScore(const ScoreSpec& spec, const SampleSet* train, SampleSet* samples,
                        const Score* fitted = nullptr);

// The score, fitted to the known samples of `train`. Errors: kInvalidArgument, with the score's name, for outputs that
// it can't be fitted to. Preconditions: a member of the spec is set, and it must be fitted.
absl::StatusOr<std::unique_ptr<Score>> FitScore(const ScoreSpec& spec, const SampleSet& train);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_APPLY_SCORE_H_
