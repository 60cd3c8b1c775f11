// An unknown score that is made of the outputs in files.
#ifndef OPENSET_EVAL_FILES_APPLY_SCORE_H_
#define OPENSET_EVAL_FILES_APPLY_SCORE_H_

#include <string>

#include "absl/status/status.h"
#include "eval/files/sample_set.h"
#include "eval/scores/score.pb.h"

namespace openset {

// The score, with the settings that are given, and what it is made of: "max_logit of the logits",
// "energy { temperature: 2 } of the logits". Precondition: the spec has a member.
std::string ScoreText(const ScoreSpec& spec);

// Sets `unknown_score`, and predictions and probabilities where the score has its own, by a score of the outputs,
// fitted on the known samples of `train` where it must be and that is not null. Errors: kInvalidArgument with the
// score's name for outputs that it needs and the files lack, and for a spec that breaks its schema's rules.
// Precondition: the spec has a member.
absl::Status ApplyScore(const ScoreSpec& spec, const SampleSet* train, SampleSet* samples);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_APPLY_SCORE_H_
