// The requests of `openset score` that a store keeps, so that a report has everything that was scored on a network.
#ifndef OPENSET_TOOLS_CLI_SCORE_KEPT_REQUEST_H_
#define OPENSET_TOOLS_CLI_SCORE_KEPT_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"
#include "tools/cli/score/score_request.pb.h"

namespace openset {

// Returns the request for a report of everything that was scored on this network: `request`, joined with `kept` if the
// two differ only in methods, tasks and splits. `scored` has the names of the methods of `request`.
ScoreRequest JoinedRequest(const ScoreRequest& request, const std::vector<std::string>& scored,
                           const ScoreRequest& kept);

// Stores the request next to the study's reports. Errors: those of writing.
absl::Status KeepScoreRequest(const ScoreRequest& request, const Study& study);
// Returns the stored request of the study with this name. Errors: kNotFound if the store has none.
absl::StatusOr<ScoreRequest> FindScoreRequest(const Store& store, const std::string& name);
// Returns kInvalidArgument if the store has results of another model under this name.
absl::Status CheckScoreName(const ScoreRequest& request, const Store& store, const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SCORE_KEPT_REQUEST_H_
