// The study that `openset score` runs, from the requests that a store keeps and from named networks.
#ifndef OPENSET_TOOLS_CLI_SCORE_SCORE_EXPERIMENT_H_
#define OPENSET_TOOLS_CLI_SCORE_SCORE_EXPERIMENT_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"
#include "models/model.pb.h"
#include "tools/cli/score/score_request.pb.h"

namespace openset {

// The requests of `openset score` that a store keeps, so that a report has everything that was scored on a network.

// Returns the request for a report of everything that was scored on this network: `request`, joined with `kept` if the
// two differ only in methods, tasks and splits. `scored` has the names of the methods of `request`.
ScoreRequest JoinedRequest(const ScoreRequest& request, const std::vector<std::string>& scored,
                           const ScoreRequest& kept);

// Stores the request next to the study's reports. Errors: a write error (core/files/files.h); kFailedPrecondition if
// the store is a bundle.
absl::Status KeepScoreRequest(const ScoreRequest& request, const Study& study);
// Returns the stored request of the study with this name. Errors: kNotFound if the store has none; another read error
// (core/files/system_calls.h); kInvalidArgument if its file is not valid.
absl::StatusOr<ScoreRequest> FindScoreRequest(const Store& store, const std::string& name);
// Returns kInvalidArgument if the store has results of another model under this name.
absl::Status CheckScoreName(const ScoreRequest& request, const Store& store, const std::string& name);

// ---- Networks that `openset score --network=NAME` knows, for files that contain only weights.

struct NamedNetwork {
  ModelSpec model;  // with a linear head and no weights
  InputSpec input;  // the usual input for its weights; fields that vary are not set
};

// Finds a network by its name in torchvision or timm (resnet50). With the ending "_cifar", it is OpenOOD's form for
// small images. Errors: kInvalidArgument with the nearest name, or all.
absl::StatusOr<NamedNetwork> FindNamedNetwork(const std::string& name);

// In the order of the table.
std::vector<std::string> NamedNetworks();

// ---- The study that `openset score` runs: post-hoc methods on one trained model.

struct ScoreExperiment {
  Experiment experiment;
  std::vector<PostHocMethods::Skipped> skipped;
};

// The numbers in the names of the files that exist.
struct OutputFiles {
  std::set<int> splits;
  std::set<uint64_t> seeds;
};

// The files whose absolute path is `pattern` with numbers in the places of {split} and {seed}.
OutputFiles FindNumberedFiles(const std::string& pattern);

// Makes the study of a request. Without methods in the request, it has all of them. Its name is "score_" and the
// request's name or, without one, the model's name, its seed 0, and its metrics are auroc with its interval, accuracy,
// aupr_unknown, fpr_at_95tpr, aurc and openauc. Errors name the flag: kInvalidArgument for flags that exclude each
// other, a model without weights, a task of several splits without --split, or a method that is unknown or not post
// hoc; kInvalidArgument also, with "FILE:LINE: path: ", for an invalid method, task or catalog entry; a read error
// (core/files/system_calls.h) of their files and of the model's.
absl::StatusOr<ScoreExperiment> MakeScoreExperiment(const ScoreRequest& request, const SpecFolders& folders);

// "left out: knn, vim (needs an array 'features' in the file of outputs)": a line for each reason.
std::string SkippedText(const std::vector<PostHocMethods::Skipped>& skipped);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SCORE_SCORE_EXPERIMENT_H_
