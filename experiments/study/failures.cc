#include "experiments/study/failures.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiments/action/stage.h"
#include "experiments/spec/trial.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/processes/leases.h"

namespace openset {

FailureKind KindOf(int code) {
  switch (static_cast<absl::StatusCode>(code)) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kAlreadyExists:
      return FailureKind::kInput;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return FailureKind::kMethod;
    default:
      return FailureKind::kMachine;
  }
}

std::string WhatToDo(const std::vector<StudyFailure>& failures) {
  const auto has = [&](FailureKind kind) {
    return absl::c_any_of(failures, [kind](const StudyFailure& failure) { return failure.kind == kind; });
  };
  // The message of a command that trains begins with its field.
  const auto is_of_command = [](const StudyFailure& failure) {
    return failure.kind == FailureKind::kMethod && absl::StrContains(failure.what, ": training.command: ");
  };
  std::vector<std::string> parts;
  if (absl::c_any_of(failures, is_of_command)) {
    parts.push_back("repair the command's program (the log says why it failed), then run the same command");
  }
  if (absl::c_any_of(failures, [&](const StudyFailure& failure) {
        return failure.kind == FailureKind::kMethod && !is_of_command(failure);
      })) {
    parts.push_back("the method would fail again: change its settings (--set) or leave it out (--methods)");
  }
  if (has(FailureKind::kInput)) parts.push_back("repair the named files, then run the same command");
  if (parts.empty() || has(FailureKind::kMachine)) {
    parts.push_back(parts.empty() ? "the same command retries them"
                                  : "the same command retries failures of the machine");
  }
  return absl::StrJoin(parts, "; ");
}

std::vector<StudyFailure> FailuresOf(const Study& study) {
  const Store& store = study.store();
  const Plan& plan = study.plan();
  std::set<std::string> running;
  for (const RunState& run : RunsOf(store)) {
    for (const RunningAction& action : run.running()) running.insert(action.key());
  }
  std::vector<StudyFailure> failures;
  const auto unknown = [&failures](const std::string& what, const absl::Status& why, std::vector<int> trials) {
    failures.push_back({absl::StrCat(what, ": ", why.message()), "", FailureKind::kMachine, std::move(trials), true});
  };
  const absl::StatusOr<std::vector<std::string>> failed = store.KeysOfFailures();
  if (!failed.ok()) {
    unknown("what failed is not known", failed.status(), {});
    return failures;
  }
  for (const Action& action : plan.actions) {
    const std::string& key = action.key;
    // Most actions of a large plan didn't fail.
    if (action.is_done() || running.count(key) > 0 || !absl::c_binary_search(*failed, key)) continue;
    const absl::StatusOr<FailureRecord> failure = store.LoadFailure(key);
    if (IsReadFailure(failure.status())) {
      unknown(absl::StrCat(KindName(action.kind), " ", Describe(plan.TrialOf(action))), failure.status(),
              {action.trials.begin(), action.trials.end()});
    }
    if (!failure.ok()) continue;
    const int attempts = store.CountFailures(key).value_or(1);
    failures.push_back({absl::StrCat(KindName(action.kind), " ", Describe(plan.TrialOf(action)),
                                     attempts > 1 ? absl::StrCat(" (", attempts, " times)") : "",
                                     failure->has_epoch() ? absl::StrCat(" in epoch ", failure->epoch()) : "", ": ",
                                     failure->message()),
                        failure->log_tail(),
                        KindOf(failure->code()),
                        {action.trials.begin(), action.trials.end()}});
  }
  return failures;
}

std::string SplitsText(const std::vector<int>& splits) {
  if (splits.size() == 1) return absl::StrCat("split ", splits[0]);
  const std::vector<int> first(splits.begin(), splits.empty() ? splits.end() : splits.end() - 1);
  return absl::StrCat("splits ", absl::StrJoin(first, ", "),
                      splits.empty() ? "" : absl::StrCat(" and ", splits.back()));
}

std::vector<std::string> FailedLines(const std::vector<FailedTrial>& trials) {
  using Key = std::tuple<std::string, std::string, uint64_t>;
  std::vector<Key> order;
  std::map<Key, std::vector<int>> splits;
  for (const FailedTrial& trial : trials) {
    const auto [at, is_new] = splits.try_emplace({trial.row, trial.level, trial.seed});
    if (is_new) order.push_back(at->first);
    at->second.push_back(trial.split);
  }
  std::vector<std::string> lines;
  for (const Key& key : order) {
    const auto& [row, level, seed] = key;
    lines.push_back(
        absl::StrCat(row, ", ", SplitsText(splits[key]), ", seed ", seed, level.empty() ? "" : ", ", level));
  }
  return lines;
}

void AddFailures(const Study& study, const StudyResults& results, const std::vector<StudyFailure>& failures,
                 Report* report) {
  std::set<int> failed;
  for (const StudyFailure& failure : failures) failed.insert(failure.trials.begin(), failure.trials.end());
  const std::vector<int> reported = study.ReportedTrials();
  std::set<std::string> tasks;
  for (const TrialResult& result : results.results) tasks.insert(result.trial->task());
  std::vector<FailedTrial> trials;
  for (size_t i = 0; i < reported.size() && i < results.results.size(); ++i) {
    if (results.results[i].record != nullptr || failed.count(reported[i]) == 0) continue;
    const TrialSpec& trial = *results.results[i].trial;
    const std::string of_task = tasks.size() > 1 ? absl::StrCat(" on ", trial.task()) : "";
    trials.push_back({absl::StrCat(RowName(trial), of_task), LevelText(study.plan().trials[reported[i]]), trial.split(),
                      trial.seed()});
  }
  report->failed += static_cast<int>(trials.size());
  for (std::string& line : FailedLines(trials)) report->failed_lines.push_back(std::move(line));
}

}  // namespace openset
