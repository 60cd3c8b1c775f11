#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/status_macros.h"
#include "experiments/spec/describe.h"
#include "experiments/study/failures.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags.h"

namespace openset {
namespace {

absl::Status RunStatus(const std::vector<std::string>& arguments) {
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[0]));
  const Store& store = study->store();
  const Plan& plan = study->plan();
  std::vector<std::string> running;
  for (const PlanNode& node : plan.nodes) {
    if (node.done) continue;
    const std::string what = absl::StrCat(KindName(node.kind), " ", Describe(plan.TrialOf(node)));
    if (const std::string owner = store.RunningBy(node.key); !owner.empty()) {
      running.push_back(absl::StrCat(what, " (process ", owner, ")"));
    }
  }
  const int missing = plan.CountNeeded(ActionKind::kEvaluate);
  std::cout << study->name() << ": " << plan.trials.size() - missing << " of " << plan.trials.size() << " trials done, "
            << missing << " left\n";
  if (study->waiting() > 0) std::cout << SearchText(*study) << "\n";
  if (!running.empty()) std::cout << "running:\n";
  for (const std::string& line : running) std::cout << "  " << line << "\n";
  const std::vector<StudyFailure> failed = FailuresOf(*study);
  if (!failed.empty()) std::cout << "failed at the last attempt:\n";
  for (const StudyFailure& failure : failed) {
    std::cout << "  " << failure.what << "\n";
    if (failure.log_tail.empty()) continue;
    std::cout << "      " << absl::StrReplaceAll(failure.log_tail, {{"\n", "\n      "}}) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

Command StatusCommand() {
  Command command;
  command.name = "status";
  command.arguments = "SPEC";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Tells what of an experiment is done, running, failed (and why) and left.";
  command.description = "  openset status quickstart\n";
  command.flags = {"deploy", "store", "devices", "data", "library"};
  command.run = RunStatus;
  return command;
}

}  // namespace openset
