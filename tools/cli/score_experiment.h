// The experiment that `openset score` runs: post-hoc methods on one model that is trained already.
#ifndef OPENSET_TOOLS_CLI_SCORE_EXPERIMENT_H_
#define OPENSET_TOOLS_CLI_SCORE_EXPERIMENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/post_hoc.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"
#include "tools/cli/score_request.pb.h"

namespace openset {

struct ScoreExperiment {
  Experiment experiment;
  std::vector<PostHocMethods::Skipped> skipped;
};

// As the flags give it, with `also`; methods: none for all. Paths start from `folder`. Named "score_" and the model's
// name, with seed 0 and the metrics accuracy, auroc, aupr_unknown, fpr_at_95tpr, aurc and openauc. Errors, with the
// flag: kInvalidArgument for flags that don't go together, a model without weights, a task of several splits without
// --split, a method that is not post hoc or is unknown; those of LoadMethod() and LoadTask().
absl::StatusOr<ScoreExperiment> MakeScoreExperiment(const ScoreRequest& request, const SpecFolders& folders);

// What a report of all that was scored on this network is asked for: `request` and, where `kept` differs from it in
// nothing but methods, tasks and splits, what `kept` has. `scored`: the names of the methods that `request` stands for.
ScoreRequest JoinedRequest(const ScoreRequest& request, const std::vector<std::string>& scored,
                           const ScoreRequest& kept);

// Beside the reports of a study: what it was asked for. Errors: those of writing.
absl::Status KeepScoreRequest(const ScoreRequest& request, const Study& study);
// That of the study of this name; kNotFound where the store has none.
absl::StatusOr<ScoreRequest> FindScoreRequest(const Store& store, const std::string& name);
// kInvalidArgument where the store has results of another model under the name.
absl::Status CheckScoreName(const ScoreRequest& request, const Store& store, const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SCORE_EXPERIMENT_H_
