#include "experiments/engine/execute_plan.h"

#include <signal.h>
#include <string.h>

#include <limits>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/files/system_calls.h"
#include "core/machine/machine.h"
#include "core/process/interrupt.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"
#include "experiments/spec/trial.h"

namespace openset {

absl::Status StatusOf(const FailureRecord& failure, const std::string& where) {
  return absl::Status(static_cast<absl::StatusCode>(failure.code()),
                      where.empty() ? failure.message() : absl::StrCat(failure.message(), " (", where, ")"));
}

absl::Status SomeActionsFailed(int failed, const std::string& rest) {
  if (failed == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(failed, failed == 1 ? " action" : " actions", " failed", rest));
}

absl::Status NoGpuIsLeft(const absl::Status& why) {
  return absl::UnavailableError(absl::StrCat("no GPU is left for the remaining actions: ", why.message(),
                                             "; the same command continues once one is free"));
}

absl::Status StoreIsGone(const Store& store, const absl::Status& why) {
  return absl::UnavailableError(
      absl::StrCat("the store ", store.folder(), " is full or missing: ", why.message(),
                   "; openset started no new work. The same command continues once there is room"));
}

int ThreadsBesideGpu(const Capacity& capacity) {
  const int seats = std::max(1, static_cast<int>(capacity.gpus.size()) * capacity.shares_per_gpu);
  return std::clamp((capacity.cpu_threads - 1) / seats, 0, 2);
}

absl::Status NeedsGpu(const Plan& plan, const Action& action) {
  return absl::FailedPreconditionError(
      absl::StrCat(Describe(plan.TrialOf(action)), " needs a GPU: choose one with --devices=cuda:0"));
}

FailureRecord FailureOf(const Plan& plan, const Action& action, const absl::Status& status) {
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_kind(KindName(action.kind));
  failure.set_key(action.key);
  failure.set_description(Describe(plan.TrialOf(action)));
  failure.set_message(std::string(status.message()));
  failure.set_failed_at_seconds(absl::ToUnixSeconds(absl::Now()));
  failure.set_code(static_cast<int>(status.code()));
  failure.set_host(HostName());
  failure.set_user_id(UserId());
  failure.set_user_name(UserName());
  return failure;
}

int CpuSlots::Begin(ActionId action, const Stage& stage, const Demand& demand) {
  const int threads = demand.cpu_threads;
  if (!stage.CanUseMoreCpus(threads)) return threads;
  const int slots = threads + scheduler_.Widen(action);
  // Actions on a GPU can't use CPU slots that become free later.
  if (demand.gpu_shares == 0) growing_[action] = slots;
  return slots;
}

void CpuSlots::GiveFree() {
  if (growing_.empty()) return;
  auto& [action, slots] = *growing_.begin();
  const int more = scheduler_.Widen(action);
  if (more == 0) return;
  slots += more;
  engine_.GiveCpus(action, slots);
}

absl::StatusOr<Claims::Found> Claims::TryClaim(ActionId id) {
  if (leases_ == nullptr) return Found{Fate::kOpen};
  const Action& action = plan_[id];
  OPENSET_ASSIGN_OR_RETURN(const bool was_done, plan_.IsInStore(action, store_));
  if (was_done) return Found{Fate::kDone};
  OPENSET_ASSIGN_OR_RETURN(const std::string owner, leases_->TryClaim(plan_.ResultKeys(action)));
  if (!owner.empty()) return Found{Fate::kRunningElsewhere, owner};
  const absl::StatusOr<bool> is_done = plan_.IsInStore(action, store_);  // its owner may have finished it just now
  if (is_done.ok() && !*is_done && (before_ == nullptr || !HasFailed(id, FailuresOf(id)))) return Found{Fate::kOpen};
  Release(id);
  OPENSET_RETURN_IF_ERROR(is_done.status());
  return Found{*is_done ? Fate::kDone : Fate::kFailed};
}

void Claims::Release(ActionId id) {
  if (leases_ == nullptr) return;
  for (const std::string& key : plan_.ResultKeys(plan_[id])) leases_->Release(key);
}

int Claims::FailuresOf(ActionId id) const {
  const std::string& key = plan_[id].key;
  // If the system can't tell, no later attempt counts as failed, and this process tries itself.
  if (before_ == nullptr) return store_.CountFailures(key).value_or(std::numeric_limits<int>::max());
  const auto before = before_->find(key);
  return before == before_->end() ? 0 : before->second;
}

void Claims::LeaveTo(ActionId id, const std::string& run_id) {
  left_[id] = FailuresOf(id);
  if (!run_id.empty()) run_of_[id] = run_id;
}

std::vector<std::pair<ActionId, Claims::Fate>> Claims::PollLeft() {
  std::vector<std::pair<ActionId, Fate>> fates;
  fates.reserve(left_.size());
  for (const auto& [id, failures] : left_) fates.emplace_back(id, FateOf(id, failures));
  for (const auto& [id, fate] : fates) {
    if (fate == Fate::kDone || fate == Fate::kFailed) left_.erase(id);
  }
  return fates;
}

Claims::Fate Claims::FateOf(ActionId id, int failures) const {
  const Action& action = plan_[id];
  // If the system can't tell, TryClaim() fails.
  if (plan_.IsInStore(action, store_).value_or(false)) return Fate::kDone;
  for (const std::string& key : plan_.ResultKeys(action)) {
    if (leases_ != nullptr && !leases_->OwnerOf(key).empty()) return Fate::kRunningElsewhere;
  }
  return HasFailed(id, failures) ? Fate::kFailed : Fate::kOpen;
}

bool Claims::HasFailed(ActionId id, int failures) const {
  const std::string& key = plan_[id].key;
  if (store_.CountFailures(key).value_or(0) <= failures) return false;
  const absl::StatusOr<FailureRecord> failure = store_.LoadFailure(key);
  return failure.ok() && !failure->retried();
}

absl::Status Claims::FailureReason(ActionId id) const {
  const absl::StatusOr<FailureRecord> failure = store_.LoadFailure(plan_[id].key);
  if (!failure.ok()) return failure.status();
  const auto run = run_of_.find(id);
  return StatusOf(*failure, run == run_of_.end() ? "" : RunName(run->second));
}

std::vector<std::pair<ActionId, std::string>> Claims::TakeLost(const std::set<ActionId>& running) {
  std::vector<std::pair<ActionId, std::string>> lost;
  for (const std::string& key : leases_->Lost()) {
    for (const ActionId id : running) {
      if (absl::c_linear_search(plan_.ResultKeys(plan_[id]), key)) lost.emplace_back(id, leases_->OwnerOf(key));
    }
  }
  return lost;
}

namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);
// Time between two signs of life, which include the progress.
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
        claims_(plan, store, options.leases, options.failures_before),
        attempts_(options.deploy.retries(), options.first_wait),
        idle_timeout_(options.idle_timeout),
        engine_(engine),
        observer_(observer),
        scheduler_(engine->capacity()) {}

  absl::Status Run() {
    OPENSET_RETURN_IF_ERROR(AddActions(plan_.NeededActions()));
    Interrupt interrupt;
    while (true) {
      OPENSET_RETURN_IF_ERROR(StartReadyActions());
      if (IsOver()) break;
      for (const EngineEvent& event : engine_->Wait(interrupt.fd(), kTick)) Handle(event);
      if (const int signal = interrupt.Take(); signal != 0) StopBy(signal);
      if (ends_at_.has_value() && SteadyNow() >= *ends_at_) Stop();
      PollOthers();
      OPENSET_RETURN_IF_ERROR(open_work_failure_);
      observer_->OnTick();
    }
    if (stopped_by_ != 0) return absl::CancelledError(absl::StrCat("stopped by ", strsignal(stopped_by_)));
    if (ends_at_.has_value()) return TimeIsUp();
    OPENSET_RETURN_IF_ERROR(store_failure_);
    OPENSET_RETURN_IF_ERROR(start_failure_);
    if (MayStart() && scheduler_.ready() > 0) OPENSET_RETURN_IF_ERROR(gpu_failure_);
    return SomeActionsFailed(failed_,
                             TooManyFailed() ? "; openset started no new work after that (--max_failures)" : "");
  }

 private:
  bool MayStart() const {
    return start_failure_.ok() && store_failure_.ok() && !TooManyFailed() && !ends_at_.has_value();
  }
  bool TooManyFailed() const { return options_.deploy.max_failures() > 0 && failed_ >= options_.deploy.max_failures(); }
  bool IsOver() const {
    return has_idled_out_ || (scheduler_.running() == 0 && (scheduler_.postponed() == 0 || !MayStart()));
  }
  bool Takes(const Action& action) const {
    return action.kind == ActionKind::kChoose ? options_.makes_choices : options_.starts_actions;
  }

  // Adds these actions, inputs first, to the scheduler. Passengers are part of the action that carries them.
  absl::Status AddActions(const std::vector<ActionId>& needed) {
    AddWork(plan_, needed, &work_);
    for (const ActionId id : needed) {
      const Action& action = plan_[id];
      if (action.is_passenger() || (action.kind == ActionKind::kChoose && !Takes(action))) continue;
      // Actions that are left to others need no seat.
      Demand demand = Takes(action) ? StageOf(action).Needs(plan_.TrialOf(action), options_.deploy.memory()) : Demand{};
      if (demand.gpu_shares > 0 && engine_->capacity().gpus.empty()) return NeedsGpu(plan_, action);
      if (demand.gpu_shares > 0) demand.cpu_threads = ThreadsBesideGpu(engine_->capacity());
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

  // If a start fails, no more starts are attempted until an action has ended.
  absl::Status StartReadyActions() {
    while (MayStart()) {
      const auto start = scheduler_.Next();
      if (!start.has_value()) break;
      const ActionId id = start->action;
      if (plan_[id].kind == ActionKind::kChoose) {
        OPENSET_RETURN_IF_ERROR(Choose(id));
        continue;
      }
      if (!TryClaim(id)) continue;
      WorkRequest request = plan_.RequestOf(plan_[id]);
      const Demand demand = StageOf(plan_[id]).Needs(plan_.TrialOf(plan_[id]), options_.deploy.memory());
      request.set_cpu_slots(cpu_slots_.Begin(id, StageOf(plan_[id]), demand));
      start_failure_ = engine_->Start(id, start->gpu, std::move(request));
      if (start_failure_.ok()) {
        running_.insert(id);
        observer_->OnStart(id);
        continue;
      }
      Cancel(id);
      if (StoreFailed(start_failure_)) {
        start_failure_ = absl::OkStatus();
      } else {
        observer_->OnStartFailure(id, start_failure_);
      }
    }
    if (MayStart()) cpu_slots_.GiveFree();
    return absl::OkStatus();
  }

  // Claims the action for this process, or records what became of it. Returns whether this process should start it: no
  // other process works on it or has done it.
  bool TryClaim(ActionId id) {
    if (!Takes(plan_[id])) {
      Leave(id);
      return false;
    }
    const absl::StatusOr<Claims::Found> found = claims_.TryClaim(id);
    if (IsUnreadableClaim(found.status()) && leases_->IsStoreThere()) {
      CannotClaim(id, found.status());
      return false;
    }
    if (!found.ok()) {
      scheduler_.Cancelled(id);
      if (!StoreFailed(found.status())) store_failure_ = found.status();
      return false;
    }
    switch (found->fate) {
      case Claims::Fate::kOpen:
        return true;
      case Claims::Fate::kRunningElsewhere:
        LeaveTo(id, found->run_id, /*was_ours=*/false);
        break;
      case Claims::Fate::kDone:
        Finish(id);
        break;
      case Claims::Fate::kFailed:
        Fail(id, claims_.FailureReason(id));
        break;
    }
    return false;
  }

  // Nobody can say whether another process has the action. Tries again later, and at last gives it up; that is no
  // failure of the action, so the store keeps no record of it.
  void CannotClaim(ActionId id, const absl::Status& why) {
    const absl::Status status = absl::UnavailableError(absl::StrCat("it can't be claimed now: ", why.message()));
    if (!attempts_.ShouldRetry(id, status)) return Fail(id, status);
    scheduler_.Postponed(id);
    observer_->OnRetry(id, status, attempts_.ScheduleRetry(id, SteadyNow()));
  }

  void LeaveTo(ActionId id, const std::string& run_id, bool was_ours) {
    scheduler_.Postponed(id);
    claims_.LeaveTo(id, run_id);
    observer_->OnElsewhere(id, run_id, was_ours);
  }

  // Leaves the action to any other process.
  void Leave(ActionId id) {
    scheduler_.Postponed(id);
    if (plan_.IsInStore(plan_[id], store_).value_or(false)) return Finish(id);  // otherwise the next poll tells
    claims_.LeaveTo(id);
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
      attempts_.Progressed(id, *event.progress);
    }
    if (!event.end.has_value()) return;
    start_failure_ = absl::OkStatus();
    if (event.end->ok()) {
      End(id);
      Finish(id);
    } else if (ends_at_.has_value() && absl::IsCancelled(*event.end)) {
      Cancel(id);
    } else if (event.gpu_is_lost) {
      observer_->OnGpuLost(id, *event.end);
      gpu_failure_ = NoGpuIsLeft(*event.end);
      scheduler_.CloseGpuOf(id);
      Cancel(id);
    } else if (StoreFailed(*event.end)) {
      End(id);
      Skip(id);
      scheduler_.Cancelled(id);
    } else {
      const bool may_go_on = attempts_.ShouldRetry(id, *event.end);
      const bool retried = may_go_on && MayStart();
      // If this process is ending, another one makes the next attempt.
      RecordFailure(id, *event.end, event.log_tail, retried || (may_go_on && ends_at_.has_value()));
      End(id);
      if (!retried) return Fail(id, *event.end);
      scheduler_.Postponed(id);
      observer_->OnRetry(id, *event.end, attempts_.ScheduleRetry(id, SteadyNow()));
    }
  }

  // The action no longer runs.
  void End(ActionId id) {
    running_.erase(id);
    cpu_slots_.End(id);
    attempts_.Ended(id);
    claims_.Release(id);
  }

  void Finish(ActionId id) {
    ++ended_;
    observer_->FinishAll(plan_, id);
    scheduler_.Finished(id);
  }

  void Fail(ActionId id, const absl::Status& status) {
    observer_->OnFinish(id, status);
    ++failed_;
    ++ended_;
    for (const ActionId passenger : plan_[id].passengers) observer_->OnSkip(passenger);
    for (const ActionId skipped : scheduler_.Failed(id)) Skip(skipped);
  }

  void Skip(ActionId id) { observer_->SkipAll(plan_, id); }

  // Whether the store, not the action, is to blame for the error.
  bool StoreFailed(const absl::Status& status) {
    const bool is_gone = !store_failure_.ok() || (leases_ != nullptr && !leases_->IsStoreThere());
    if (!IsDiskError(status) && !is_gone) return false;
    if (store_failure_.ok()) store_failure_ = StoreIsGone(store_, status);
    return true;
  }

  void RecordFailure(ActionId id, const absl::Status& status, const std::string& log_tail, bool retried) {
    const absl::Status written = store_.WriteFailure(attempts_.Record(plan_, id, status, log_tail, retried));
    if (!written.ok()) StoreFailed(written);
  }

  // Renews this process's leases, and looks at what other processes have done.
  void PollOthers() {
    const absl::Duration now = SteadyNow();
    if (leases_ != nullptr && poll_schedule_.TakeHeartbeat(now, std::min(kDescribeEvery, leases_->lease() / 4)))
      RenewLeases();
    for (const ActionId id : attempts_.TakeDue(now)) scheduler_.Resumed(id);
    if (!poll_schedule_.IsPollDue(now, options_.poll_interval)) return;
    OpenWork work;
    const bool is_any_back = Look(&work);
    poll_schedule_.RecordPoll(now, SteadyNow());
    work.ended = ended_;
    if (!MayStart()) return;
    if (options_.on_open_work != nullptr) open_work_failure_ = options_.on_open_work(work);
    // If an action is ready here, it has only just become so, unless its GPU is lost.
    const bool can_go_on = scheduler_.ready() > 0 && gpu_failure_.ok();
    const bool has_work = is_any_back || !running_.empty() || attempts_.has_retries();
    if (idle_timeout_.IsOver(now, has_work) && !can_go_on) has_idled_out_ = true;
  }

  void RenewLeases() {
    RunState state;
    observer_->Describe(&state);
    if (const absl::Status renewed = leases_->Renew(std::move(state)); !renewed.ok()) StoreFailed(renewed);
    ReleaseLostClaims();
  }

  // Looks at the actions that were left to others. Returns whether any of them comes back to this process.
  bool Look(OpenWork* work) {
    bool is_any_back = false;
    for (const auto& [id, fate] : claims_.PollLeft()) {
      if (fate == Claims::Fate::kRunningElsewhere) work->held.push_back(id);
      if (fate == Claims::Fate::kDone) Finish(id);
      if (fate == Claims::Fate::kFailed) Fail(id, claims_.FailureReason(id));
      if (fate != Claims::Fate::kOpen) continue;
      if (Takes(plan_[id])) {
        TakeBack(id);
        is_any_back = true;
      } else {
        work->open.push_back(id);
      }
    }
    return is_any_back;
  }

  void TakeBack(ActionId id) {
    claims_.TakeBack(id);
    scheduler_.Resumed(id);
  }

  // If other processes took over actions while this one slept, leaves the actions to them.
  void ReleaseLostClaims() {
    for (const auto& [id, run_id] : claims_.TakeLost(running_)) {
      if (running_.count(id) == 0) continue;
      engine_->Kill(id);
      End(id);
      LeaveTo(id, run_id, /*was_ours=*/true);
    }
  }

  // Starts nothing new, makes trainings save their state, and kills everything that still runs after `at_most`.
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

  // The action was running, and ended before it was done.
  void Cancel(ActionId id) {
    End(id);
    scheduler_.Cancelled(id);
  }

  const Plan& plan_;  // grows by choices
  const MakeChoice& choose_;
  const Store& store_;
  const ExecuteOptions& options_;
  Leases* leases_;
  Claims claims_;
  Attempts attempts_;
  PollSchedule poll_schedule_;
  IdleTimeout idle_timeout_;
  Engine* engine_;
  EngineObserver* observer_;
  Scheduler scheduler_;
  CpuSlots cpu_slots_{&scheduler_, engine_};
  std::vector<int64_t> work_;              // by id; see AddWork()
  std::set<ActionId> running_;             // in the engine
  absl::Status start_failure_;             // OK: the last start did not fail, or something has ended since
  absl::Status store_failure_;             // OK: the store can be written
  absl::Status gpu_failure_;               // OK: no GPU was lost
  absl::Status open_work_failure_;         // OK: `on_open_work` succeeded
  std::optional<absl::Duration> ends_at_;  // when running actions are killed, if this process is ending
  int stopped_by_ = 0;                     // SIGINT, SIGTERM or SIGHUP; 0: none received
  bool has_idled_out_ = false;             // nothing to claim for `idle_timeout`
  int failed_ = 0, ended_ = 0;
};

}  // namespace

absl::Status TimeIsUp() { return absl::CancelledError("stopped because its time is up"); }

absl::Status ExecutePlan(const Plan& plan, const MakeChoice& choose, const Store& store, const ExecuteOptions& options,
                         Engine* engine, EngineObserver* observer) {
  return Execution(plan, choose, store, options, engine, observer).Run();
}

}  // namespace openset
