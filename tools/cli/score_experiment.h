// The experiment that `openset score` runs: post-hoc methods on one model that is trained already.
#ifndef OPENSET_TOOLS_CLI_SCORE_EXPERIMENT_H_
#define OPENSET_TOOLS_CLI_SCORE_EXPERIMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/post_hoc.h"

namespace openset {

// As the flags give it; tools/cli/score_command.cc says what each is. Paths start from `folder`.
struct ScoreRequest {
  std::string folder;
  std::string model;
  std::string weights;
  std::string head;
  bool features = false;
  std::vector<int> outputs;
  std::string task;
  std::optional<int> split;
  std::vector<std::string> methods;  // empty: all
  std::optional<int> size;
  std::optional<int> channels;
  std::vector<double> mean;
  std::vector<double> std;
  int train_limit = 0;
  int test_limit = 0;
};

struct ScoreExperiment {
  Experiment experiment;
  std::vector<PostHocMethods::Skipped> skipped;
};

// Named "score_" and the model's name, with seed 0 and the metrics accuracy, auroc, aupr_unknown, fpr_at_95tpr, aurc
// and openauc. Errors, with the flag: kInvalidArgument for flags that don't go together, a model without weights, a
// task of several splits without --split, a method that is not post hoc or is unknown; those of LoadMethod() and
// LoadTask().
absl::StatusOr<ScoreExperiment> MakeScoreExperiment(const ScoreRequest& request, const SpecFolders& folders);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SCORE_EXPERIMENT_H_
