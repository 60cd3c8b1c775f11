#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/table.h"
#include "core/text/wrapped_text.h"
#include "experiments/action/stage.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/store/collect_garbage.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/store_contents.h"
#include "experiments/study/failures.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/report_files.h"
#include "tools/cli/run/run_display.h"
#include "tools/cli/run/status_json.h"

namespace openset {
namespace {

// Prints the runs that ended without a word, of a study and its variants or, without a study, of the store.
void ShowKilled(const Store& store, const Study* study) {
  const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  for (RunState& run : KilledRunsOf(store)) {
    if (run.experiment().empty() || (study != nullptr && run.experiment() != study->name())) continue;
    run.clear_seconds_left();
    std::cout << "killed: " << StudyText(run) << ", by " << RunnerText(run) << ", "
              << ShortDuration(absl::Seconds(now - run.updated_at_seconds())) << " ago: " << TotalLine(run)
              << "; the same command continues it\n";
  }
}

// Prints the runs of a study (those with other changes by the command line as variants) or, without a study, of the
// store, each with its current state. Returns their number.
int ShowRuns(const Store& store, const Study* study) {
  const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  int shown = 0;
  for (const RunState& run : RunsOf(store)) {
    if (study != nullptr && run.experiment() != study->name()) continue;
    ++shown;
    const bool is_own = study != nullptr && IsRunOf(run, study->name(), study->experiment().overrides);
    std::cout << "running"
              << (study == nullptr ? " "
                  : is_own         ? ""
                                   : " a variant, ")
              << (is_own ? "" : StudyText(run) + ",") << " by " << RunnerText(run)
              << (run.slurm_job().empty() ? "" : ", Slurm task " + OneLine(run.slurm_job())) << ", for "
              << ShortDuration(absl::Seconds(run.updated_at_seconds() - run.started_at_seconds()));
    const double silent = now - run.updated_at_seconds();
    if (silent > run.lease_seconds()) {
      std::cout << ", without a sign of life for " << ShortDuration(absl::Seconds(silent));
    }
    std::cout << ": " << TotalLine(run) << "\n";
    for (const RunningAction& action : run.running()) std::cout << "  " << OneLine(ActionLine(action)) << "\n";
  }
  return shown;
}

// If the study's last array has left the queue with records missing: the last line of each task's output.
void ShowEnded(const Study& study, const SlurmArray& array) {
  constexpr size_t kMostLines = 5;
  const auto is_there = [&](const std::string& id) { return study.store().HasRecord(id).value_or(true); };
  const auto missing = absl::c_count_if(array.record(), [&](const std::string& id) { return !is_there(id); });
  if (missing == 0) return;
  const std::string ended = SlurmClient().Ended(array.name());
  std::cout << "Slurm job " << (ended.empty() ? array.name() : ended) << " has left the queue, and " << missing
            << " of its " << array.record_size() << (array.record_size() == 1 ? " record" : " records")
            << (missing == 1 ? " is" : " are") << " missing; the last lines of its output:\n";
  const std::vector<std::string> lines = LastLinesOf(study.store(), array);
  for (size_t i = 0; i < lines.size() && i < kMostLines; ++i) std::cout << "  " << lines[i] << "\n";
  if (lines.size() > kMostLines) std::cout << "  and " << lines.size() - kMostLines << " others\n";
  if (lines.empty()) std::cout << "  none: its tasks wrote nothing\n";
}

// The number of the study's tasks in each Slurm state.
void ShowQueue(const Study& study) {
  const std::vector<SlurmArray> arrays = ArraysInStore(study.store(), study.name());
  if (arrays.empty()) return;
  const auto queue = SlurmClient().Queue();
  if (!queue.ok()) {
    std::cout << "Slurm: " << queue.status().message() << "\n";
    return;
  }
  for (const SlurmArray& array : arrays) {
    std::map<std::string, int> states;
    std::string job;
    for (const SlurmTask& task : *queue) {
      if (task.array != array.name()) continue;
      ++states[task.state];
      job = task.job;
    }
    if (states.empty() && &array == &arrays.back()) ShowEnded(study, array);
    if (states.empty()) continue;
    std::cout << "Slurm job " << job << " (" << DescribeSeat(array.seat()) << " a task):";
    for (const auto& [state, tasks] : states) std::cout << " " << tasks << " " << absl::AsciiStrToLower(state);
    std::cout << " of " << array.tasks() << "\n";
  }
}

// For trainings that are not complete.
int64_t CountSavedStates(const Study& study) {
  return absl::c_count_if(study.plan().actions, [&study](const Action& action) {
    return action.is_needed() && StageOf(action).HasSavedState(study.store(), action.key);
  });
}

// What `status` shows, in addition to results.
void AddUnreadRooms(const Store& store, UnreadRecords* unread) {
  for (const char* kind : {"runs", "slurm"}) unread->Add(NamesInFolder(JoinPath(store.folder(), kind)).status());
}

// Prints the studies of a store, one per line, its runs, and its disk use. Returns the number of runs. What can't be
// read now goes to `unreadable`.
absl::StatusOr<int> ShowStore(bool json, UnreadRecords* unreadable, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kRead));
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  UnreadRecords unread;
  std::map<std::string, int64_t> by_user;
  const std::vector<StudyUsage> studies = UsageByStudy(store, &unread, &by_user);
  const auto kinds = UsageByKind(store, &unread);
  AddUnreadRooms(store, &unread);
  const std::vector<RunState> runs = RunsOf(store);
  const std::set<std::string> lines(unread.unreadable.begin(), unread.unreadable.end());  // some are met twice
  unreadable->unreadable.assign(lines.begin(), lines.end());
  if (json) {
    std::cout << StoreStatusJson(store.folder(), studies, by_user, kinds, runs);
    return static_cast<int>(runs.size());
  }
  if (!studies.empty()) {
    Table table{{"study", "records", "by", "last record", "disk"}, {}, 1};
    for (const StudyUsage& study : studies) {
      const absl::Time last = absl::UnixEpoch() + absl::Seconds(study.last_seconds);
      table.rows.push_back(
          {study.name.empty() ? "(no name)" : study.name, absl::StrCat(study.records),
           study.users.empty() ? "-" : absl::StrJoin(study.users, ", "),
           study.last_seconds > 0 ? absl::FormatTime("%Y-%m-%d %H:%M", last, absl::LocalTimeZone()) : "-",
           BytesText(study.bytes)});
    }
    std::cout << ToText(table, TableWidth()) << "\n";
  }
  for (const std::string& line : unread.VersionLines()) std::cout << line << "\n";
  if (!unread.damaged.empty()) {
    std::cout << "corrupt records: " << unread.damaged.size() << " ('openset records verify' says why)\n";
  }
  std::vector<std::string> disk;
  for (const auto& [kind, bytes] : kinds) disk.push_back(absl::StrCat(OneLine(kind), " ", BytesText(bytes)));
  if (!disk.empty()) std::cout << Wrapped("disk: " + absl::StrJoin(disk, ", "), TableWidth()) << "\n";
  if (!unreadable->unreadable.empty()) {
    std::cout << Wrapped("the sizes are incomplete, because something can't be read: " +
                             OneLine(absl::StrJoin(unreadable->unreadable, "; ")),
                         TableWidth())
              << "\n";
  }
  std::vector<std::string> users;
  for (const auto& [user, bytes] : by_user) users.push_back(absl::StrCat(OneLine(user), " ", BytesText(bytes)));
  if (!users.empty()) std::cout << Wrapped("by user: " + absl::StrJoin(users, ", "), TableWidth()) << "\n";
  ShowKilled(store, nullptr);
  if (ShowRuns(store, nullptr) == 0) std::cout << "nothing runs on the store " << store.folder() << "\n";
  return static_cast<int>(runs.size());
}

// Returns the number of runs of the study. What can't be read goes to `unread`.
absl::StatusOr<int> ShowStudy(const std::string& spec, bool json, UnreadRecords* unread, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(spec, config));
  const Store& store = study->store();
  for (const std::string& line : study->contents().changed) std::cerr << "hint: " << line << "\n";
  unread->unreadable = study->Unreadable();
  AddUnreadRooms(store, unread);
  const std::vector<StudyFailure> failed = FailuresOf(*study);
  for (const StudyFailure& failure : failed) {
    if (failure.is_unknown) unread->unreadable.push_back(failure.what);
  }
  if (json) {
    std::vector<RunState> runs;
    for (RunState& run : RunsOf(store)) {
      if (IsRunOf(run, study->name(), study->experiment().overrides)) runs.push_back(std::move(run));
    }
    std::cout << StudyStatusJson(*study, runs, failed);
    return static_cast<int>(runs.size());
  }
  for (const std::string& line : study->contents().lines) std::cout << Wrapped(line, TableWidth()) << "\n";
  const Plan& plan = study->plan();
  const int missing = plan.CountNeeded(ActionKind::kEvaluate);
  std::cout << study->name() << ": " << plan.trials.size() - missing << " of "
            << TrialCount(static_cast<int>(plan.trials.size())) << " done, " << missing << " left\n";
  if (study->waiting() > 0) std::cout << SearchText(*study) << "\n";
  if (const int64_t saved = CountSavedStates(*study); saved > 0) {
    std::cout << saved
              << (saved == 1 ? " training has a saved state, from which it continues\n"
                             : " trainings have saved states, from which they continue\n");
  }
  if (const std::vector<std::string> damaged = study->Damaged(); !damaged.empty()) {
    std::cout << damaged.size() << (damaged.size() == 1 ? " result is" : " results are")
              << " corrupt; `openset run` moves " << (damaged.size() == 1 ? "it" : "them")
              << " to quarantine/ and makes " << (damaged.size() == 1 ? "it" : "them") << " again if needed:\n";
    for (const std::string& line : damaged) std::cout << "  " << line << "\n";
  }
  const absl::StatusOr<std::vector<std::string>> aside = store.Quarantined();
  unread->Add(aside.status());
  if (aside.ok() && !aside->empty()) {
    std::cout << "in quarantine: " << aside->size() << "\n";
    for (const std::string& line : *aside) std::cout << "  " << line << "\n";
  }
  ShowKilled(store, study.get());
  const int runs = ShowRuns(store, study.get());
  ShowQueue(*study);
  if (!failed.empty()) std::cout << "failed at the last attempt (" << WhatToDo(failed) << "):\n";
  for (const StudyFailure& failure : failed) {
    std::cout << "  " << failure.what << "\n";
    if (failure.log_tail.empty()) continue;
    std::cout << "      " << absl::StrReplaceAll(failure.log_tail, {{"\n", "\n      "}}) << "\n";
  }
  return runs;
}

absl::Status RunStatus(const std::vector<std::string>& arguments, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format, ParseFormat(config, {TextFormat::kText, TextFormat::kJson}));
  const bool is_json = format == TextFormat::kJson;
  const double watch = config.watch;
  if (!(watch >= 0 && watch < 1e6)) return absl::InvalidArgumentError("--watch: give a number of seconds, 0 or more");
  OPENSET_RETURN_IF_ERROR(CheckNamedStore(config));
  while (true) {
    UnreadRecords unread;
    absl::StatusOr<int> runs =
        arguments.empty() ? ShowStore(is_json, &unread, config) : ShowStudy(arguments[0], is_json, &unread, config);
    if (!runs.ok()) return runs.status();
    if (watch == 0 || *runs == 0) return unread.ReadFailure();
    std::cout << std::flush;
    absl::SleepFor(absl::Seconds(watch));
    if (!is_json) std::cout << "\n" << absl::FormatTime("%H:%M:%S", absl::Now(), absl::LocalTimeZone()) << "\n";
  }
}

}  // namespace

Command StatusCommand() {
  Command command;
  command.name = "status";
  command.arguments = "[SPEC]";
  command.min_arguments = 0;
  command.max_arguments = 1;
  command.summary = "Shows what is done, running, failed (and why) and left.";
  command.description =
      "For each action that runs, it shows the epoch, the loss, the last metric, images a second and the time\n"
      "left. A run of the study with other --set, --seeds or --methods is shown as a variant while it runs, and after\n"
      "it was killed. Without SPEC, it shows\n"
      "the studies that have records in the store (who made them, when, and their disk usage; shared results count\n"
      "for each study), all runs, and the runs of this machine that were killed.\n"
      "\n"
      "  openset status quickstart\n"
      "  openset status quickstart --watch=10\n"
      "  openset status --format=json\n";
  command.flags = {"deploy", "store", "devices", "data", "library", "format", "watch"};
  AddChangeFlags(&command);
  command.run = RunStatus;
  return command;
}

}  // namespace openset
