#include "experiments/study/failures.h"

#include "absl/strings/str_cat.h"
#include "experiments/spec/describe.h"

namespace openset {

std::vector<StudyFailure> FailuresOf(const Study& study) {
  const Store& store = study.store();
  const Plan& plan = study.plan();
  std::vector<StudyFailure> failures;
  for (const PlanNode& node : plan.nodes) {
    if (node.done || !store.RunningBy(node.key).empty()) continue;
    const absl::StatusOr<FailureRecord> failure = store.LoadFailure(node.key);
    if (!failure.ok()) continue;
    const int attempts = store.CountFailures(node.key);
    failures.push_back(
        {absl::StrCat(KindName(node.kind), " ", Describe(plan.TrialOf(node)),
                      attempts > 1 ? absl::StrCat(" (", attempts, " times)") : "", ": ", failure->message()),
         failure->log_tail()});
  }
  return failures;
}

}  // namespace openset
