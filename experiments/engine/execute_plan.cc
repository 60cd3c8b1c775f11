#include "experiments/engine/execute_plan.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/process/disk_error.h"
#include "core/process/interrupt.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"
#include "experiments/engine/node_action.h"
#include "experiments/engine/scheduler.h"
#include "experiments/spec/describe.h"

namespace openset {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);
// Between two looks at what other processes do.
constexpr absl::Duration kLookEvery = absl::Seconds(1);
// Between two signs of life, which show the progress.
constexpr absl::Duration kDescribeEvery = absl::Seconds(2);

class Execution {
 public:
  Execution(const Plan& plan, const MakeChoice& choose, const Store& store, const ExecuteOptions& options,
            Engine* engine, EngineObserver* observer)
      : plan_(plan),
        choose_(choose),
        store_(store),
        options_(options),
        leases_(options.leases),
        engine_(engine),
        observer_(observer),
        scheduler_(engine->capacity()) {}

  absl::Status Run() {
    OPENSET_RETURN_IF_ERROR(AddNodes(NeededNodes(plan_)));
    Interrupt interrupt;
    while (true) {
      OPENSET_RETURN_IF_ERROR(StartWhatCan());
      if (IsOver()) break;
      for (const EngineEvent& event : engine_->Wait(interrupt.fd(), kTick)) Handle(event);
      if (const int signal = interrupt.Take(); signal != 0) StopBy(signal);
      if (ends_at_.has_value() && SteadyNow() >= *ends_at_) Stop();
      LookAround();
      observer_->OnTick();
    }
    if (stopped_by_ != 0) return absl::CancelledError(absl::StrCat("stopped by ", strsignal(stopped_by_)));
    if (ends_at_.has_value()) return TimeIsUp();
    OPENSET_RETURN_IF_ERROR(store_failure_);
    OPENSET_RETURN_IF_ERROR(start_failure_);
    if (MayStart() && scheduler_.ready() > 0) OPENSET_RETURN_IF_ERROR(gpu_failure_);
    return SomeFailed(failed_, TooManyFailed() ? "; openset started no new work after that (--max_failures)" : "");
  }

 private:
  // A node that waits for another process, or for its next attempt.
  struct Postponed {
    std::string elsewhere;  // the run that works on it; "" if it waits for its next attempt
    int failures = 0;       // attempts that had failed when it began to wait
    absl::Duration until;   // of an attempt
  };

  bool MayStart() const {
    return start_failure_.ok() && store_failure_.ok() && !TooManyFailed() && !ends_at_.has_value();
  }
  bool TooManyFailed() const { return options_.max_failures > 0 && failed_ >= options_.max_failures; }
  bool IsOver() const { return scheduler_.running() == 0 && (scheduler_.postponed() == 0 || !MayStart()); }

  // Gives the scheduler these nodes, inputs first. Passengers are part of the node that they are done together with.
  absl::Status AddNodes(const std::vector<int>& needed) {
    AddWork(plan_, needed, &work_);
    numbers_.resize(plan_.nodes.size(), -1);
    for (const int n : needed) {
      const PlanNode& node = plan_.nodes[n];
      if (node.is_passenger || !IsDoneHere(n)) continue;
      const Demand demand = DemandOf(plan_, node, options_.memory);
      if (demand.gpu_shares > 0 && engine_->capacity().gpus.empty()) {
        return absl::FailedPreconditionError(
            absl::StrCat(openset::Describe(plan_.TrialOf(node)), " runs on a GPU: give one, --devices=cuda:0"));
      }
      std::vector<int> inputs;
      for (const int input : node.inputs) {
        if (!plan_.nodes[input].done && numbers_[input] >= 0) inputs.push_back(numbers_[input]);
      }
      numbers_[n] = scheduler_.Add(demand, {static_cast<int>(node.kind), work_[n]}, inputs);
      for (const int passenger : node.together) numbers_[passenger] = numbers_[n];
      nodes_.push_back(n);
      if (scheduler_.state(numbers_[n]) == NodeState::kSkipped) Skip(n);
    }
    return absl::OkStatus();
  }

  // Whether this process does it: it is among those it was told to do, and has or makes what they need.
  bool IsDoneHere(int n) {
    if (options_.only == nullptr) return true;
    if (!options_.only(plan_.nodes[n])) return false;
    for (const int input : plan_.nodes[n].inputs) {
      const PlanNode& from = plan_.nodes[input];
      if (from.done || numbers_[input] >= 0 || IsInStore(plan_, from, store_)) continue;
      observer_->OnSkip(n);
      return false;
    }
    return true;
  }

  // After a failure to start, nothing is started before something has ended.
  absl::Status StartWhatCan() {
    while (MayStart()) {
      const auto start = scheduler_.Next();
      if (!start.has_value()) break;
      const int n = nodes_[start->node];
      if (plan_.nodes[n].kind == ActionKind::kChoose) {
        OPENSET_RETURN_IF_ERROR(Choose(n, start->node));
        continue;
      }
      if (!Claim(n, start->node)) continue;
      WorkRequest request = RequestOf(plan_, plan_.nodes[n]);
      const int threads = DemandOf(plan_, plan_.nodes[n], options_.memory).cpu_threads;
      const bool widens = CanUseMoreCpus(plan_.nodes[n].kind, threads);
      request.set_cpu_slots(threads + (widens ? scheduler_.Widen(start->node) : 0));
      start_failure_ = engine_->Start(start->node, start->gpu, std::move(request));
      if (start_failure_.ok()) {
        running_.insert(start->node);
        observer_->OnStart(n);
        continue;
      }
      Release(n);
      scheduler_.Cancelled(start->node);
      if (StoreFailed(start_failure_)) {
        start_failure_ = absl::OkStatus();
      } else {
        observer_->OnStartFailure(n, start_failure_);
      }
    }
    return absl::OkStatus();
  }

  // Whether the node is to be started: no other process works on it or has done it.
  bool Claim(int n, int number) {
    if (leases_ == nullptr) return true;
    const PlanNode& node = plan_.nodes[n];
    if (IsInStore(plan_, node, store_)) {
      Finish(n, number);
      return false;
    }
    const absl::StatusOr<std::string> owner = leases_->TryClaim(KeysOf(plan_, node));
    if (!owner.ok()) {
      scheduler_.Cancelled(number);
      if (!StoreFailed(owner.status())) store_failure_ = owner.status();
      return false;
    }
    if (!owner->empty()) {
      LeaveTo(n, number, *owner, /*was_ours=*/false);
      return false;
    }
    if (!IsInStore(plan_, node, store_)) return true;
    Release(n);  // who had it finished a moment ago
    Finish(n, number);
    return false;
  }

  void Release(int n) {
    if (leases_ == nullptr) return;
    for (const std::string& key : KeysOf(plan_, plan_.nodes[n])) leases_->Release(key);
  }

  void LeaveTo(int n, int number, const std::string& run_id, bool was_ours) {
    scheduler_.Postponed(number);
    postponed_[number] = {run_id, store_.CountFailures(plan_.nodes[n].key)};
    observer_->OnElsewhere(n, run_id, was_ours);
  }

  absl::Status Choose(int n, int number) {
    observer_->OnStart(n);
    const absl::StatusOr<std::vector<int>> added = choose_(n);
    if (!added.ok()) {
      RecordFailure(n, number, added.status(), /*log_tail=*/"", /*retried=*/false);
      Fail(n, number, added.status());
      return absl::OkStatus();
    }
    observer_->OnGrowth(*added);
    scheduler_.Finished(number);
    observer_->OnFinish(n, absl::OkStatus());
    return AddNodes(*added);
  }

  void Handle(const EngineEvent& event) {
    const int number = event.action, n = nodes_[number];
    if (event.progress.has_value()) {
      observer_->OnProgress(n, *event.progress);
      if (event.progress->epoch() > 0) epochs_[number] = event.progress->epoch();
    }
    if (!event.end.has_value()) return;
    start_failure_ = absl::OkStatus();
    if (event.end->ok()) {
      Leave(n, number);
      Finish(n, number);
    } else if (ends_at_.has_value() && absl::IsCancelled(*event.end)) {
      Cancel(number);
    } else if (event.gpu_is_lost) {
      observer_->OnGpuLost(n, *event.end);
      gpu_failure_ = NoGpuIsLeft(*event.end);
      scheduler_.CloseGpuOf(number);
      Cancel(number);
    } else if (StoreFailed(*event.end)) {
      Leave(n, number);
      Skip(n);
      scheduler_.Cancelled(number);
    } else {
      const bool retried = MayPass(*event.end) && attempts_[number] < options_.retry.retries && MayStart();
      RecordFailure(n, number, *event.end, event.log_tail, retried);
      Leave(n, number);
      if (!retried) return Fail(n, number, *event.end);
      const absl::Duration wait = WaitBeforeRetry(options_.retry, ++attempts_[number]);
      scheduler_.Postponed(number);
      postponed_[number] = {"", 0, SteadyNow() + wait};
      observer_->OnRetry(n, *event.end, wait);
    }
  }

  // It does not run any more.
  void Leave(int n, int number) {
    running_.erase(number);
    epochs_.erase(number);
    Release(n);
  }

  void Finish(int n, int number) {
    observer_->FinishAll(plan_, n);
    scheduler_.Finished(number);
  }

  void Fail(int n, int number, const absl::Status& status) {
    observer_->OnFinish(n, status);
    ++failed_;
    for (const int passenger : plan_.nodes[n].together) observer_->OnSkip(passenger);
    for (const int skipped : scheduler_.Failed(number)) Skip(nodes_[skipped]);
  }

  void Skip(int n) { observer_->SkipAll(plan_, n); }

  // Whether it is the store's failure and not the action's.
  bool StoreFailed(const absl::Status& status) {
    const bool is_gone = !store_failure_.ok() || (leases_ != nullptr && !leases_->IsStoreThere());
    if (!IsDiskError(status) && !is_gone) return false;
    if (store_failure_.ok()) {
      store_failure_ = absl::UnavailableError(
          absl::StrCat("the store ", store_.folder(), " is full or missing: ", status.message(),
                       "; openset started no new work. The same command continues once there is room"));
    }
    return true;
  }

  void RecordFailure(int n, int number, const absl::Status& status, const std::string& log_tail, bool retried) {
    FailureRecord failure = FailureOf(plan_, plan_.nodes[n], status);
    failure.set_log_tail(log_tail);
    if (const auto epoch = epochs_.find(number); epoch != epochs_.end()) failure.set_epoch(epoch->second);
    failure.set_retried(retried);
    if (const absl::Status written = store_.WriteFailure(failure); !written.ok()) StoreFailed(written);
  }

  // Tells others that this process lives, and looks at what they have done.
  void LookAround() {
    const absl::Duration now = SteadyNow();
    if (leases_ != nullptr && now - described_ >= std::min(kDescribeEvery, leases_->lease() / 4)) {
      described_ = now;
      RunState state;
      observer_->Describe(&state);
      if (const absl::Status renewed = leases_->Renew(std::move(state)); !renewed.ok()) StoreFailed(renewed);
      LeaveLost();
    }
    if (now - looked_ < std::min(kLookEvery, options_.retry.first_wait)) return;
    looked_ = now;
    for (auto next = postponed_.begin(); next != postponed_.end();) {
      const auto [number, waiting] = *next++;
      if (waiting.elsewhere.empty() ? now >= waiting.until : IsBack(number, waiting)) {
        postponed_.erase(number);
        scheduler_.Resumed(number);
      }
    }
  }

  // Whether this process has to do what another one was at. What has come of it otherwise is told to the scheduler.
  bool IsBack(int number, const Postponed& waiting) {
    const int n = nodes_[number];
    const PlanNode& node = plan_.nodes[n];
    if (IsInStore(plan_, node, store_)) {
      postponed_.erase(number);
      Finish(n, number);
      return false;
    }
    for (const std::string& key : KeysOf(plan_, node)) {
      if (!leases_->OwnerOf(key).empty()) return false;
    }
    const absl::StatusOr<FailureRecord> failure = store_.LoadFailure(node.key);
    if (store_.CountFailures(node.key) == waiting.failures || !failure.ok() || failure->retried()) return true;
    postponed_.erase(number);
    Fail(n, number,
         absl::Status(static_cast<absl::StatusCode>(failure->code()),
                      absl::StrCat(failure->message(), " (", RunName(waiting.elsewhere), ")")));
    return false;
  }

  // What others took over while this process slept: they do it.
  void LeaveLost() {
    for (const std::string& key : leases_->Lost()) {
      for (const int number : std::set<int>(running_)) {
        const int n = nodes_[number];
        const std::vector<std::string> keys = KeysOf(plan_, plan_.nodes[n]);
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) continue;
        engine_->Kill(number);
        Leave(n, number);
        LeaveTo(n, number, leases_->OwnerOf(key), /*was_ours=*/true);
      }
    }
  }

  // Nothing new is started, trainings save themselves, and what runs after `at_most` is killed.
  void BeginEnding(absl::Duration at_most) {
    const absl::Duration end = SteadyNow() + at_most;
    ends_at_ = std::min(ends_at_.value_or(end), end);
    for (const int number : running_) {
      if (IsTraining(number)) engine_->AskToStop(number);
    }
  }

  void StopBy(int signal) {
    if (signal == SIGUSR1) return BeginEnding(options_.ending);
    if (stopped_by_ != 0) return Stop();
    stopped_by_ = signal;
    BeginEnding(options_.saving);
    for (const int number : std::set<int>(running_)) {
      if (IsTraining(number)) continue;
      engine_->Kill(number);
      Cancel(number);
    }
  }

  void Stop() {
    engine_->KillAll();
    for (const int number : std::set<int>(running_)) Cancel(number);
  }

  bool IsTraining(int number) const { return plan_.nodes[nodes_[number]].kind == ActionKind::kTrain; }

  // It was running, and ended before it was done.
  void Cancel(int number) {
    Leave(nodes_[number], number);
    scheduler_.Cancelled(number);
  }

  const Plan& plan_;  // grows by choices
  const MakeChoice& choose_;
  const Store& store_;
  const ExecuteOptions& options_;
  Leases* leases_;
  Engine* engine_;
  EngineObserver* observer_;
  Scheduler scheduler_;
  std::vector<int> nodes_;                 // of the plan, by their numbers in the scheduler
  std::vector<int> numbers_;               // and the other way round; -1: not there
  std::vector<int64_t> work_;              // of the plan's nodes, AddWork()
  std::set<int> running_;                  // in the engine, by their numbers
  std::map<int, Postponed> postponed_;     // by their numbers
  std::map<int, int> attempts_;            // that failed, of those that are tried again
  std::map<int, int> epochs_;              // under way, of the trainings that run
  absl::Status start_failure_;             // OK: the last start did not fail, or something has ended since
  absl::Status store_failure_;             // OK: the store can be written
  absl::Status gpu_failure_;               // OK: no GPU was lost
  std::optional<absl::Duration> ends_at_;  // when what runs is killed, of a process that is to end
  int stopped_by_ = 0;                     // SIGINT, SIGTERM or SIGHUP; 0: none has come
  absl::Duration described_, looked_;
  int failed_ = 0;
};

}  // namespace

absl::Status TimeIsUp() { return absl::CancelledError("stopped because its time is up"); }

absl::Status ExecutePlan(const Plan& plan, const MakeChoice& choose, const Store& store, const ExecuteOptions& options,
                         Engine* engine, EngineObserver* observer) {
  return Execution(plan, choose, store, options, engine, observer).Run();
}

}  // namespace openset
