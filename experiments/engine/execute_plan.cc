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
#include "core/files/disk_error.h"
#include "core/process/interrupt.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"
#include "experiments/action/stage.h"
#include "experiments/engine/outcome.h"
#include "experiments/engine/scheduler.h"
#include "experiments/spec/describe.h"

namespace openset {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);
// Between two looks at what other processes do.
constexpr absl::Duration kLookEvery = absl::Seconds(1);
// Between two signs of life, which show the progress.
constexpr absl::Duration kDescribeEvery = absl::Seconds(2);

// Adds to `work`, by ids, the work of each of these actions, inputs first, and of the longest way from it to a record.
// Actions that they need may be there already.
void AddWork(const Plan& plan, const std::vector<ActionId>& needed, std::vector<int64_t>* work) {
  work->resize(plan.actions.size());
  const auto work_of = [work](ActionId id) -> int64_t& { return (*work)[static_cast<size_t>(id)]; };
  for (auto id = needed.rbegin(); id != needed.rend(); ++id) {
    work_of(*id) += plan[*id].work;  // to that of the ways behind it
    for (const ActionId input : plan[*id].inputs) work_of(input) = std::max(work_of(input), work_of(*id));
  }
}

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
    OPENSET_RETURN_IF_ERROR(AddActions(plan_.NeededActions()));
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
  // An action that waits for another process, or for its next attempt.
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

  // Gives the scheduler these actions, inputs first. Passengers are part of the action that carries them.
  absl::Status AddActions(const std::vector<ActionId>& needed) {
    AddWork(plan_, needed, &work_);
    for (const ActionId id : needed) {
      const Action& action = plan_[id];
      if (action.is_passenger() || !IsDoneHere(action)) continue;
      const Demand demand = StageOf(action).Needs(plan_.TrialOf(action), options_.memory);
      if (demand.gpu_shares > 0 && engine_->capacity().gpus.empty()) {
        return absl::FailedPreconditionError(
            absl::StrCat(openset::Describe(plan_.TrialOf(action)), " runs on a GPU: give one, --devices=cuda:0"));
      }
      std::vector<ActionId> inputs;
      for (const ActionId input : action.inputs) {
        if (!plan_[input].is_done() && IsScheduled(input)) inputs.push_back(plan_.CarrierOf(input));
      }
      scheduler_.Add(id, demand, {static_cast<int>(action.kind), work_[static_cast<size_t>(id)]}, inputs);
      if (scheduler_.state(id) == ScheduleState::kSkipped) Skip(id);
    }
    return absl::OkStatus();
  }

  bool IsScheduled(ActionId id) const { return scheduler_.state(plan_.CarrierOf(id)) != ScheduleState::kUnknown; }

  // Whether this process does it: it is among those it was told to do, and has or makes what they need.
  bool IsDoneHere(const Action& action) {
    if (options_.is_assigned == nullptr) return true;
    if (!options_.is_assigned(action)) return false;
    for (const ActionId input : action.inputs) {
      if (plan_[input].is_done() || IsScheduled(input) || plan_.IsInStore(plan_[input], store_)) continue;
      observer_->OnSkip(action.id);
      return false;
    }
    return true;
  }

  // After a failure to start, nothing is started before something has ended.
  absl::Status StartWhatCan() {
    while (MayStart()) {
      const auto start = scheduler_.Next();
      if (!start.has_value()) break;
      const ActionId id = start->action;
      const Stage& stage = StageOf(plan_[id]);
      if (plan_[id].kind == ActionKind::kChoose) {
        OPENSET_RETURN_IF_ERROR(Choose(id));
        continue;
      }
      if (!Claim(id)) continue;
      WorkRequest request = plan_.RequestOf(plan_[id]);
      const int threads = stage.Needs(plan_.TrialOf(plan_[id]), options_.memory).cpu_threads;
      request.set_cpu_slots(threads + (stage.CanUseMoreCpus(threads) ? scheduler_.Widen(id) : 0));
      start_failure_ = engine_->Start(id, start->gpu, std::move(request));
      if (start_failure_.ok()) {
        running_.insert(id);
        observer_->OnStart(id);
        continue;
      }
      Release(id);
      scheduler_.Cancelled(id);
      if (StoreFailed(start_failure_)) {
        start_failure_ = absl::OkStatus();
      } else {
        observer_->OnStartFailure(id, start_failure_);
      }
    }
    return absl::OkStatus();
  }

  // Whether the action is to be started: no other process works on it or has done it.
  bool Claim(ActionId id) {
    if (leases_ == nullptr) return true;
    const Action& action = plan_[id];
    if (plan_.IsInStore(action, store_)) {
      Finish(id);
      return false;
    }
    const absl::StatusOr<std::string> owner = leases_->TryClaim(plan_.ResultKeys(action));
    if (!owner.ok()) {
      scheduler_.Cancelled(id);
      if (!StoreFailed(owner.status())) store_failure_ = owner.status();
      return false;
    }
    if (!owner->empty()) {
      LeaveTo(id, *owner, /*was_ours=*/false);
      return false;
    }
    if (!plan_.IsInStore(action, store_)) return true;
    Release(id);  // who had it finished a moment ago
    Finish(id);
    return false;
  }

  void Release(ActionId id) {
    if (leases_ == nullptr) return;
    for (const std::string& key : plan_.ResultKeys(plan_[id])) leases_->Release(key);
  }

  void LeaveTo(ActionId id, const std::string& run_id, bool was_ours) {
    scheduler_.Postponed(id);
    postponed_[id] = {run_id, store_.CountFailures(plan_[id].key)};
    observer_->OnElsewhere(id, run_id, was_ours);
  }

  absl::Status Choose(ActionId id) {
    observer_->OnStart(id);
    const absl::StatusOr<std::vector<ActionId>> added = choose_(id);
    if (!added.ok()) {
      RecordFailure(id, added.status(), /*log_tail=*/"", /*retried=*/false);
      Fail(id, added.status());
      return absl::OkStatus();
    }
    observer_->OnGrowth(*added);
    scheduler_.Finished(id);
    observer_->OnFinish(id, absl::OkStatus());
    return AddActions(*added);
  }

  void Handle(const EngineEvent& event) {
    const ActionId id = event.action;
    if (event.progress.has_value()) {
      observer_->OnProgress(id, *event.progress);
      if (event.progress->epoch() > 0) epochs_[id] = event.progress->epoch();
    }
    if (!event.end.has_value()) return;
    start_failure_ = absl::OkStatus();
    if (event.end->ok()) {
      Leave(id);
      Finish(id);
    } else if (ends_at_.has_value() && absl::IsCancelled(*event.end)) {
      Cancel(id);
    } else if (event.gpu_is_lost) {
      observer_->OnGpuLost(id, *event.end);
      gpu_failure_ = NoGpuIsLeft(*event.end);
      scheduler_.CloseGpuOf(id);
      Cancel(id);
    } else if (StoreFailed(*event.end)) {
      Leave(id);
      Skip(id);
      scheduler_.Cancelled(id);
    } else {
      const bool retried = MayPass(*event.end) && attempts_[id] < options_.retry.retries && MayStart();
      RecordFailure(id, *event.end, event.log_tail, retried);
      Leave(id);
      if (!retried) return Fail(id, *event.end);
      const absl::Duration wait = WaitBeforeRetry(options_.retry, ++attempts_[id]);
      scheduler_.Postponed(id);
      postponed_[id] = {"", 0, SteadyNow() + wait};
      observer_->OnRetry(id, *event.end, wait);
    }
  }

  // It does not run any more.
  void Leave(ActionId id) {
    running_.erase(id);
    epochs_.erase(id);
    Release(id);
  }

  void Finish(ActionId id) {
    observer_->FinishAll(plan_, id);
    scheduler_.Finished(id);
  }

  void Fail(ActionId id, const absl::Status& status) {
    observer_->OnFinish(id, status);
    ++failed_;
    for (const ActionId passenger : plan_[id].passengers) observer_->OnSkip(passenger);
    for (const ActionId skipped : scheduler_.Failed(id)) Skip(skipped);
  }

  void Skip(ActionId id) { observer_->SkipAll(plan_, id); }

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

  void RecordFailure(ActionId id, const absl::Status& status, const std::string& log_tail, bool retried) {
    FailureRecord failure = FailureOf(plan_, plan_[id], status);
    failure.set_log_tail(log_tail);
    if (const auto epoch = epochs_.find(id); epoch != epochs_.end()) failure.set_epoch(epoch->second);
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
      const auto [id, waiting] = *next++;
      if (waiting.elsewhere.empty() ? now >= waiting.until : IsBack(id, waiting)) {
        postponed_.erase(id);
        scheduler_.Resumed(id);
      }
    }
  }

  // Whether this process has to do what another one was at. What has come of it otherwise is told to the scheduler.
  bool IsBack(ActionId id, const Postponed& waiting) {
    const Action& action = plan_[id];
    if (plan_.IsInStore(action, store_)) {
      postponed_.erase(id);
      Finish(id);
      return false;
    }
    for (const std::string& key : plan_.ResultKeys(action)) {
      if (!leases_->OwnerOf(key).empty()) return false;
    }
    const absl::StatusOr<FailureRecord> failure = store_.LoadFailure(action.key);
    if (store_.CountFailures(action.key) == waiting.failures || !failure.ok() || failure->retried()) return true;
    postponed_.erase(id);
    Fail(id, StatusOf(*failure, RunName(waiting.elsewhere)));
    return false;
  }

  // What others took over while this process slept: they do it.
  void LeaveLost() {
    for (const std::string& key : leases_->Lost()) {
      for (const ActionId id : std::set<ActionId>(running_)) {
        const std::vector<std::string> keys = plan_.ResultKeys(plan_[id]);
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) continue;
        engine_->Kill(id);
        Leave(id);
        LeaveTo(id, leases_->OwnerOf(key), /*was_ours=*/true);
      }
    }
  }

  // Nothing new is started, trainings save themselves, and what runs after `at_most` is killed.
  void BeginEnding(absl::Duration at_most) {
    const absl::Duration end = SteadyNow() + at_most;
    ends_at_ = std::min(ends_at_.value_or(end), end);
    for (const ActionId id : running_) {
      if (StageOf(plan_[id]).SavesState()) engine_->AskToStop(id);
    }
  }

  void StopBy(int signal) {
    if (signal == SIGUSR1) return BeginEnding(options_.ending);
    if (stopped_by_ != 0) return Stop();
    stopped_by_ = signal;
    BeginEnding(options_.saving);
    for (const ActionId id : std::set<ActionId>(running_)) {
      if (StageOf(plan_[id]).SavesState()) continue;
      engine_->Kill(id);
      Cancel(id);
    }
  }

  void Stop() {
    engine_->KillAll();
    for (const ActionId id : std::set<ActionId>(running_)) Cancel(id);
  }

  // It was running, and ended before it was done.
  void Cancel(ActionId id) {
    Leave(id);
    scheduler_.Cancelled(id);
  }

  const Plan& plan_;  // grows by choices
  const MakeChoice& choose_;
  const Store& store_;
  const ExecuteOptions& options_;
  Leases* leases_;
  Engine* engine_;
  EngineObserver* observer_;
  Scheduler scheduler_;
  std::vector<int64_t> work_;   // AddWork()
  std::set<ActionId> running_;  // in the engine
  std::map<ActionId, Postponed> postponed_;
  std::map<ActionId, int> attempts_;       // that failed, of those that are tried again
  std::map<ActionId, int> epochs_;         // under way, of the trainings that run
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
