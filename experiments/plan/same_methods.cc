#include "experiments/plan/same_methods.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace openset {

std::vector<std::string> SameMethodLines(const Plan& plan) {
  std::vector<std::string> lines;
  std::set<std::set<std::string>> known;
  for (const Action& action : plan.actions) {
    if (action.kind != ActionKind::kEvaluate || action.trials.size() < 2) continue;
    std::set<std::string> names;
    for (const int trial : action.trials) names.insert(plan.trials[trial].method().name());
    if (names.size() < 2 || !known.insert(names).second) continue;
    lines.push_back(absl::StrCat(names.size(), " methods are the same trial: ", absl::StrJoin(names, ", ")));
  }
  return lines;
}

}  // namespace openset
