#include "experiments/engine/slurm/run_on_slurm.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/process/interrupt.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"
#include "experiments/action/stage.h"
#include "experiments/engine/outcome.h"
#include "experiments/engine/slurm/program_copy.h"
#include "experiments/engine/slurm/slurm_arrays.h"
#include "experiments/store/processes/leases.h"

namespace openset {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);
// Looks at the queue at which a task has to be missing: results may show later than the end of their task.
constexpr int kMissingLooks = 2;

class SlurmRun {
 public:
  SlurmRun(const Plan& plan, const MakeChoice& choose, const Store& store, const SlurmClient& client,
           const SlurmRunOptions& options, EngineObserver* observer)
      : plan_(plan), choose_(choose), store_(store), client_(client), options_(options), observer_(observer) {}

  absl::Status Run() {
    most_tasks_ = client_.MaxArraySize() - 1;
    tasks_ = TasksOf(ArraysInStore(store_, options_.submit.experiment));
    OPENSET_ASSIGN_OR_RETURN(queue_, client_.Queue());
    Add(plan_.NeededActions());
    OPENSET_RETURN_IF_ERROR(FinishDone());  // what ended between the plan and the look at the queue
    OPENSET_RETURN_IF_ERROR(SubmitOpen());
    if (options_.detach) return absl::OkStatus();
    Interrupt interrupt;
    absl::Duration looked = SteadyNow();
    while (!open_.empty()) {
      pollfd waiting = {interrupt.fd(), POLLIN, 0};
      poll(&waiting, 1, static_cast<int>(absl::ToInt64Milliseconds(kTick)));
      if (const int signal = interrupt.Take(); signal != 0) {
        return absl::CancelledError(absl::StrCat("stopped watching by ", strsignal(signal), "; ", open_.size(),
                                                 " actions are left to Slurm ('openset cancel' takes them back)"));
      }
      observer_->OnTick();
      if (SteadyNow() - looked < options_.poll) continue;
      OPENSET_RETURN_IF_ERROR(Look());
      looked = SteadyNow();
    }
    return SomeFailed(failed_);
  }

 private:
  struct Open {
    bool started = false;  // the observer knows
    int failures = 0;      // attempts that had failed when it was submitted last
    int attempts = 0;      // submissions that came to nothing
    int missing = 0;       // looks since its task left the queue
    double progress = 0;   // when its training had last saved an epoch
  };

  void Add(const std::vector<ActionId>& actions) {
    for (const ActionId id : actions) {
      if (plan_[id].is_passenger()) continue;
      if (HasFailedInput(id)) {
        Skip(id);
      } else {
        open_[id].failures = store_.CountFailures(plan_[id].key);
      }
    }
  }

  bool HasFailedInput(ActionId id) const {
    return absl::c_any_of(plan_[id].inputs,
                          [this](ActionId input) { return failed_actions_.count(plan_.CarrierOf(input)) > 0; });
  }

  bool IsInQueue(ActionId id) const {
    const auto task = tasks_.find(plan_[id].key);
    return task != tasks_.end() && queue_.count(task->second) > 0;
  }

  bool IsChoice(ActionId id) const { return plan_[id].kind == ActionKind::kChoose; }

  // Submits what is not in the queue, and remembers it.
  absl::Status SubmitOpen() {
    std::vector<ActionId> actions;
    for (const auto& [id, open] : open_) {
      if (!IsChoice(id) && !IsInQueue(id)) actions.push_back(id);
    }
    return Submit(actions);
  }

  absl::Status Submit(const std::vector<ActionId>& actions) {
    const std::vector<PlannedArray> arrays =
        ArraysOf(plan_, actions, options_.memory, options_.submit.slurm.actions_per_task(), most_tasks_);
    std::vector<std::string> jobs;
    for (const PlannedArray& array : arrays) {
      std::set<std::string> after;
      for (const int other : array.after) after.insert(jobs[other]);
      for (const ActionId input : array.other_inputs) {
        const auto task = tasks_.find(plan_[input].key);
        if (task != tasks_.end() && queue_.count(task->second) > 0) after.insert(task->second.job);
      }
      OPENSET_ASSIGN_OR_RETURN(const SubmittedArray submitted, SubmitArray(store_, client_, options_.submit, plan_,
                                                                           array, {after.begin(), after.end()}));
      jobs.push_back(submitted.job);
      for (int t = 0; t < array.tasks.size(); ++t) {
        for (const ActionId id : array.tasks[t]) {
          tasks_[plan_[id].key] = {submitted.job, t};
          queue_[{submitted.job, t}] = "PENDING";
          open_[id].failures = store_.CountFailures(plan_[id].key);
          open_[id].missing = 0;
          open_[id].progress = SavedAt(id);
        }
      }
    }
    return absl::OkStatus();
  }

  // Of what is in the store, and makes the choices that it leads to.
  absl::Status FinishDone() {
    bool any = true;
    while (any) {
      any = false;
      for (auto next = open_.begin(); next != open_.end();) {
        const ActionId id = next++->first;
        if (IsChoice(id) || !plan_.IsInStore(plan_[id], store_)) continue;
        Finish(id);
        any = true;
      }
      OPENSET_RETURN_IF_ERROR(MakeChoices());
    }
    return absl::OkStatus();
  }

  absl::Status Look() {
    // The queue before the store: what ends in between is found in the store.
    absl::StatusOr<std::map<SlurmTaskId, std::string>> queue = client_.Queue();
    ShowRunning();
    OPENSET_RETURN_IF_ERROR(FinishDone());
    // A controller that is restarted does not answer for a while.
    if (!queue.ok()) return absl::IsNotFound(queue.status()) ? queue.status() : absl::OkStatus();
    queue_ = *std::move(queue);
    std::vector<ActionId> missing, again;
    for (auto& [id, open] : open_) {
      if (IsChoice(id)) continue;
      open.missing = IsInQueue(id) ? 0 : open.missing + 1;
      if (open.missing >= kMissingLooks) missing.push_back(id);
    }
    for (const ActionId id : missing) {
      const auto open = open_.find(id);  // a failure takes what depends on it out
      if (open != open_.end() && !HasFailed(id, &open->second)) again.push_back(id);
    }
    const bool may_start = options_.max_failures == 0 || failed_ < options_.max_failures;
    return may_start ? Submit(again) : absl::OkStatus();
  }

  // When the training saved its state last; 0 if it has not.
  double SavedAt(ActionId id) const {
    struct stat info = {};
    if (!StageOf(plan_[id]).SavesState()) return 0;
    if (stat(store_.PartialPath(plan_[id].key).c_str(), &info) != 0) return 0;
    return static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
  }

  // Of an action whose task left the queue without its result: whether that is for good.
  bool HasFailed(ActionId id, Open* open) {
    const std::string& key = plan_[id].key;
    if (store_.CountFailures(key) > open->failures) {
      const absl::StatusOr<FailureRecord> failure = store_.LoadFailure(key);
      if (failure.ok() && !failure->retried()) {
        Fail(id, StatusOf(*failure));
        return true;
      }
    }
    // One whose time was up got further.
    open->attempts = SavedAt(id) > open->progress ? 0 : open->attempts + 1;
    if (open->attempts <= options_.retries) return false;
    const SlurmTaskId task = tasks_[key];
    const std::map<SlurmTaskId, std::string> ended = client_.Ended(task.job);
    const std::string how = ended.count(task) > 0 ? absl::StrCat(" (", ended.at(task), ")") : "";
    Fail(id, absl::UnavailableError(absl::StrCat("its Slurm task ", task.job, "_", task.index, how,
                                                 " ended without a result, ", open->attempts,
                                                 " times; its output is in ", store_.folder(), "/slurm/logs")));
    return true;
  }

  void Finish(ActionId id) {
    open_.erase(id);
    observer_->FinishAll(plan_, id);
  }

  void Fail(ActionId id, const absl::Status& status) {
    ++failed_;
    failed_actions_.insert(id);
    open_.erase(id);
    observer_->OnFinish(id, status);
    for (const ActionId passenger : plan_[id].passengers) observer_->OnSkip(passenger);
    // Inputs come before what they are for.
    for (auto next = open_.upper_bound(id); next != open_.end();) {
      const ActionId dependent = next++->first;
      if (!HasFailedInput(dependent)) continue;
      open_.erase(dependent);
      Skip(dependent);
    }
  }

  void Skip(ActionId id) {
    failed_actions_.insert(id);
    observer_->SkipAll(plan_, id);
  }

  // Those whose candidates are done.
  absl::Status MakeChoices() {
    for (auto next = open_.begin(); next != open_.end();) {
      const ActionId id = next++->first;
      if (!IsChoice(id)) continue;
      const auto is_open = [this](ActionId input) { return open_.count(plan_.CarrierOf(input)) > 0; };
      if (absl::c_any_of(plan_[id].inputs, is_open)) continue;
      observer_->OnStart(id);
      const absl::StatusOr<std::vector<ActionId>> added = choose_(id);
      if (!added.ok()) {
        OPENSET_RETURN_IF_ERROR(store_.WriteFailure(FailureOf(plan_, plan_[id], added.status())));
        Fail(id, added.status());
      } else {
        observer_->OnGrowth(*added);
        open_.erase(id);
        observer_->OnFinish(id, absl::OkStatus());
        Add(*added);
        OPENSET_RETURN_IF_ERROR(SubmitOpen());
      }
      next = open_.begin();
    }
    return absl::OkStatus();
  }

  // What the tasks say of themselves.
  void ShowRunning() {
    std::map<std::string, ActionId> ids;
    for (const auto& [id, open] : open_) ids[plan_[id].key] = id;
    for (const RunState& run : RunsOf(store_)) {
      for (const RunningAction& action : run.running()) {
        const auto open = ids.find(action.key());
        if (open == ids.end() || !action.elsewhere().empty()) continue;
        if (!std::exchange(open_[open->second].started, true)) observer_->OnStart(open->second);
        WorkProgress progress;
        progress.set_fraction(action.fraction());
        if (!action.what().empty()) progress.set_what(action.what());
        if (action.has_epoch()) progress.set_epoch(action.epoch());
        if (action.has_epochs()) progress.set_epochs(action.epochs());
        if (action.has_loss()) progress.set_loss(action.loss());
        if (action.has_metric()) progress.set_metric(action.metric());
        if (action.has_metric_value()) progress.set_metric_value(action.metric_value());
        if (action.has_images_per_second()) progress.set_images_per_second(action.images_per_second());
        observer_->OnProgress(open->second, progress);
      }
    }
  }

  const Plan& plan_;  // grows by choices
  const MakeChoice& choose_;
  const Store& store_;
  const SlurmClient& client_;
  const SlurmRunOptions& options_;
  EngineObserver* observer_;
  int most_tasks_ = 0;
  std::map<std::string, SlurmTaskId> tasks_;  // the last one of each action, by its key
  std::map<SlurmTaskId, std::string> queue_;  // at the last look
  std::map<ActionId, Open> open_;             // neither done nor failed
  std::set<ActionId> failed_actions_;         // and skipped ones
  int failed_ = 0;
};

}  // namespace

absl::Status RunOnSlurm(const Plan& plan, const MakeChoice& choose, const Store& store, const SlurmClient& client,
                        SlurmRunOptions options, EngineObserver* observer) {
  if (SubmitOptions& submit = options.submit; !options.program.empty()) {
    OPENSET_RETURN_IF_ERROR(client.Queue().status());  // there is a Slurm, before anything is copied for it
    OPENSET_ASSIGN_OR_RETURN(submit.program,
                             CopyProgram(store, options.runfiles, options.program, options.other_programs));
    submit.command.insert(submit.command.begin(), submit.program.program);
  }
  return SlurmRun(plan, choose, store, client, options, observer).Run();
}

}  // namespace openset
