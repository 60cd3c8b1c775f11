#include "experiments/study/failures.h"

#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "experiments/action/stage.h"
#include "experiments/spec/describe.h"
#include "experiments/store/processes/leases.h"

namespace openset {

std::vector<StudyFailure> FailuresOf(const Study& study) {
  const Store& store = study.store();
  const Plan& plan = study.plan();
  std::set<std::string> running;
  for (const RunState& run : RunsOf(store)) {
    for (const RunningAction& action : run.running()) running.insert(action.key());
  }
  std::vector<StudyFailure> failures;
  const std::vector<std::string> failed = store.KeysOfFailures();  // most of a large plan is not among them
  for (const Action& action : plan.actions) {
    const std::string& key = action.key;
    if (action.is_done() || running.count(key) > 0 || !absl::c_binary_search(failed, key)) continue;
    const absl::StatusOr<FailureRecord> failure = store.LoadFailure(key);
    if (!failure.ok()) continue;
    const int attempts = store.CountFailures(key);
    failures.push_back({absl::StrCat(KindName(action.kind), " ", Describe(plan.TrialOf(action)),
                                     attempts > 1 ? absl::StrCat(" (", attempts, " times)") : "",
                                     failure->has_epoch() ? absl::StrCat(" in epoch ", failure->epoch()) : "", ": ",
                                     failure->message()),
                        failure->log_tail()});
  }
  return failures;
}

}  // namespace openset
