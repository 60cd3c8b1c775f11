#include "experiments/engine/slurm/run_on_slurm.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/process/interrupt.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"
#include "experiments/engine/node_action.h"
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
    Add(NeededNodes(plan_));
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

  void Add(const std::vector<int>& nodes) {
    for (const int n : nodes) {
      const PlanNode& node = plan_.nodes[n];
      if (node.is_passenger) continue;
      bool skipped = false;
      for (const int input : node.inputs) skipped |= failed_nodes_.count(input) > 0;
      if (skipped) {
        Skip(n);
        continue;
      }
      open_[n].failures = store_.CountFailures(node.key);
      for (const int passenger : node.together) leader_[passenger] = n;
    }
  }

  bool IsInQueue(int n) const {
    const auto task = tasks_.find(plan_.nodes[n].key);
    return task != tasks_.end() && queue_.count(task->second) > 0;
  }

  // Whether a choice has to be made before it.
  bool IsOpen(int n) const { return open_.count(leader_.count(n) > 0 ? leader_.at(n) : n) > 0; }

  // Submits what is not in the queue, and remembers it.
  absl::Status SubmitOpen() {
    std::vector<int> nodes;
    for (const auto& [n, open] : open_) {
      if (plan_.nodes[n].kind != ActionKind::kChoose && !IsInQueue(n)) nodes.push_back(n);
    }
    return Submit(nodes);
  }

  absl::Status Submit(const std::vector<int>& nodes) {
    const std::vector<PlannedArray> arrays =
        ArraysOf(plan_, nodes, options_.memory, options_.submit.slurm.actions_per_task(), most_tasks_);
    std::vector<std::string> jobs;
    for (const PlannedArray& array : arrays) {
      std::set<std::string> after;
      for (const int other : array.after) after.insert(jobs[other]);
      for (const int input : array.other_inputs) {
        const auto task = tasks_.find(plan_.nodes[input].key);
        if (task != tasks_.end() && queue_.count(task->second) > 0) after.insert(task->second.job);
      }
      OPENSET_ASSIGN_OR_RETURN(const SubmittedArray submitted, SubmitArray(store_, client_, options_.submit, plan_,
                                                                           array, {after.begin(), after.end()}));
      jobs.push_back(submitted.job);
      for (int t = 0; t < array.tasks.size(); ++t) {
        for (const int n : array.tasks[t]) {
          tasks_[plan_.nodes[n].key] = {submitted.job, t};
          queue_[{submitted.job, t}] = "PENDING";
          open_[n].failures = store_.CountFailures(plan_.nodes[n].key);
          open_[n].missing = 0;
          open_[n].progress = SavedAt(n);
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
        const int n = next++->first;
        if (plan_.nodes[n].kind == ActionKind::kChoose || !IsInStore(plan_, plan_.nodes[n], store_)) continue;
        Finish(n);
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
    std::vector<int> missing, again;
    for (auto& [n, open] : open_) {
      if (plan_.nodes[n].kind == ActionKind::kChoose) continue;
      open.missing = IsInQueue(n) ? 0 : open.missing + 1;
      if (open.missing >= kMissingLooks) missing.push_back(n);
    }
    for (const int n : missing) {
      const auto open = open_.find(n);  // a failure takes what depends on it out
      if (open != open_.end() && !HasFailed(n, &open->second)) again.push_back(n);
    }
    const bool may_start = options_.max_failures == 0 || failed_ < options_.max_failures;
    return may_start ? Submit(again) : absl::OkStatus();
  }

  // When the training saved its state last; 0 if it has not.
  double SavedAt(int n) const {
    struct stat info = {};
    if (plan_.nodes[n].kind != ActionKind::kTrain) return 0;
    if (stat(store_.PartialPath(plan_.nodes[n].key).c_str(), &info) != 0) return 0;
    return static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
  }

  // Of a node whose task left the queue without its result: whether that is for good.
  bool HasFailed(int n, Open* open) {
    const std::string& key = plan_.nodes[n].key;
    if (store_.CountFailures(key) > open->failures) {
      const absl::StatusOr<FailureRecord> failure = store_.LoadFailure(key);
      if (failure.ok() && !failure->retried()) {
        Fail(n, StatusOf(*failure));
        return true;
      }
    }
    // One whose time was up got further.
    open->attempts = SavedAt(n) > open->progress ? 0 : open->attempts + 1;
    if (open->attempts <= options_.retries) return false;
    const SlurmTaskId task = tasks_[key];
    const std::map<SlurmTaskId, std::string> ended = client_.Ended(task.job);
    const std::string how = ended.count(task) > 0 ? absl::StrCat(" (", ended.at(task), ")") : "";
    Fail(n, absl::UnavailableError(absl::StrCat("its Slurm task ", task.job, "_", task.index, how,
                                                " ended without a result, ", open->attempts,
                                                " times; its output is in ", store_.folder(), "/slurm/logs")));
    return true;
  }

  void Finish(int n) {
    open_.erase(n);
    observer_->FinishAll(plan_, n);
  }

  void Fail(int n, const absl::Status& status) {
    ++failed_;
    failed_nodes_.insert(n);
    open_.erase(n);
    observer_->OnFinish(n, status);
    for (const int passenger : plan_.nodes[n].together) {
      failed_nodes_.insert(passenger);
      observer_->OnSkip(passenger);
    }
    // Inputs come before what they are for.
    for (auto next = open_.upper_bound(n); next != open_.end();) {
      const int dependent = next++->first;
      const std::vector<int>& inputs = plan_.nodes[dependent].inputs;
      if (!std::any_of(inputs.begin(), inputs.end(), [this](int i) { return failed_nodes_.count(i) > 0; })) continue;
      open_.erase(dependent);
      Skip(dependent);
    }
  }

  void Skip(int n) {
    failed_nodes_.insert(n);
    failed_nodes_.insert(plan_.nodes[n].together.begin(), plan_.nodes[n].together.end());
    observer_->SkipAll(plan_, n);
  }

  // Those whose candidates are done.
  absl::Status MakeChoices() {
    for (auto next = open_.begin(); next != open_.end();) {
      const int n = next++->first;
      if (plan_.nodes[n].kind != ActionKind::kChoose) continue;
      const std::vector<int> inputs = plan_.nodes[n].inputs;
      if (std::any_of(inputs.begin(), inputs.end(), [this](int input) { return IsOpen(input); })) continue;
      observer_->OnStart(n);
      const absl::StatusOr<std::vector<int>> added = choose_(n);
      if (!added.ok()) {
        Fail(n, added.status());
      } else {
        observer_->OnGrowth(*added);
        open_.erase(n);
        observer_->OnFinish(n, absl::OkStatus());
        Add(*added);
        OPENSET_RETURN_IF_ERROR(SubmitOpen());
      }
      next = open_.begin();
    }
    return absl::OkStatus();
  }

  // What the tasks say of themselves.
  void ShowRunning() {
    std::map<std::string, int> nodes;
    for (const auto& [n, open] : open_) nodes[plan_.nodes[n].key] = n;
    for (const RunState& run : RunsOf(store_)) {
      for (const RunningAction& action : run.running()) {
        const auto node = nodes.find(action.key());
        if (node == nodes.end() || !action.elsewhere().empty()) continue;
        if (!std::exchange(open_[node->second].started, true)) observer_->OnStart(node->second);
        WorkProgress progress;
        progress.set_fraction(action.fraction());
        if (!action.what().empty()) progress.set_what(action.what());
        if (action.has_epoch()) progress.set_epoch(action.epoch());
        if (action.has_epochs()) progress.set_epochs(action.epochs());
        if (action.has_loss()) progress.set_loss(action.loss());
        if (action.has_metric()) progress.set_metric(action.metric());
        if (action.has_metric_value()) progress.set_metric_value(action.metric_value());
        if (action.has_images_per_second()) progress.set_images_per_second(action.images_per_second());
        observer_->OnProgress(node->second, progress);
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
  std::map<int, Open> open_;                  // neither done nor failed
  std::map<int, int> leader_;                 // of passengers
  std::set<int> failed_nodes_;                // and skipped ones
  int failed_ = 0;
};

}  // namespace

absl::Status RunOnSlurm(const Plan& plan, const MakeChoice& choose, const Store& store, const SlurmClient& client,
                        const SlurmRunOptions& options, EngineObserver* observer) {
  return SlurmRun(plan, choose, store, client, options, observer).Run();
}

}  // namespace openset
