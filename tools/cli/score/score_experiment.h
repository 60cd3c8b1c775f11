// The study that `openset score` runs: post-hoc methods on one trained model.
#ifndef OPENSET_TOOLS_CLI_SCORE_SCORE_EXPERIMENT_H_
#define OPENSET_TOOLS_CLI_SCORE_SCORE_EXPERIMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/post_hoc.h"
#include "tools/cli/score/score_request.pb.h"

namespace openset {

struct ScoreExperiment {
  Experiment experiment;
  std::vector<PostHocMethods::Skipped> skipped;
};

// Makes the study of a request. Without methods in the request, it has all of them. Its name is "score_" and the
// model's name, its seed 0, and its metrics are accuracy, auroc, aupr_unknown, fpr_at_95tpr, aurc and openauc. Errors
// name the flag: kInvalidArgument for flags that exclude each other, a model without weights, a task of several splits
// without --split, or a method that is unknown or not post hoc; those of LoadMethod() and LoadTask().
absl::StatusOr<ScoreExperiment> MakeScoreExperiment(const ScoreRequest& request, const SpecFolders& folders);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SCORE_SCORE_EXPERIMENT_H_
