#include "experiments/engine/run_progress.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "core/process/steady_clock.h"
#include "experiments/action/stage.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.h"
#include "experiments/store/processes/leases.h"

namespace openset {
namespace {

// Rates from less running time than this are ignored. If the expected pace was measured, more time is needed to improve
// on it, since the time so far includes the worker's start.
constexpr double kRateNeedsSeconds = 2;
constexpr double kBetterRateNeedsSeconds = 10;

}  // namespace

bool IsByCommand(const Plan& plan, ActionId action) {
  return plan[action].kind == ActionKind::kTrain && plan.TrialOf(plan[action]).method().training().has_command();
}

RunProgress::RunProgress(const Plan& plan, std::function<absl::Duration()> clock, ExpectedPace expected)
    : plan_(plan), clock_(clock != nullptr ? std::move(clock) : SteadyNow), expected_(expected) {
  for (const ActionId id : plan_.NeededActions()) Expect(id);
}

// Actions without image passes (evaluation) take some time too.
double RunProgress::WorkOf(ActionId action) const { return static_cast<double>(plan_[action].work) + 1; }

void RunProgress::Expect(ActionId action) {
  ++total_;
  unknown_ += IsUnknown(action);
  unknown_left_ += IsUnknown(action);
  total_work_ += WorkOf(action);
  work_left_[KindOf(action)] += WorkOf(action);
}

void RunProgress::Start(ActionId action) {
  elsewhere_.erase(action);
  Running& running = running_[action];
  running.start = clock_();
  running.started_at_seconds = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  running.attempt = attempts_[action] + 1;
  most_at_once_ = std::max(most_at_once_, running_.size());
}

void RunProgress::Advance(ActionId action, const WorkProgress& progress) {
  const auto running = running_.find(action);
  if (running == running_.end()) return;
  if (!running->second.first_fraction.has_value()) {
    running->second.first_fraction = progress.fraction();
    running->second.first_message = clock_();
  }
  running->second.progress = progress;
}

void RunProgress::End(ActionId action) {
  running_.erase(action);
  elsewhere_.erase(action);
  ++ended_;
  unknown_left_ -= IsUnknown(action);
  ended_work_ += WorkOf(action);
  work_left_[KindOf(action)] -= WorkOf(action);
}

void RunProgress::Finish(ActionId action) {
  if (const auto running = running_.find(action); running != running_.end() && !IsUnknown(action)) {
    Tally& tally = finished_[KindOf(action)];
    tally.work += WorkOf(action) * (1 - running->second.first_fraction.value_or(0));
    tally.seconds += absl::ToDoubleSeconds(clock_() - running->second.start);
  }
  End(action);
}

void RunProgress::Fail(ActionId action) {
  ++failed_;
  End(action);
}

void RunProgress::Skip(ActionId action) { End(action); }

void RunProgress::TakeBack(ActionId action) { running_.erase(action); }

void RunProgress::Retry(ActionId action) {
  running_.erase(action);
  ++attempts_[action];
}

void RunProgress::WaitFor(ActionId action, const std::string& run_id) {
  running_.erase(action);
  elsewhere_[action] = run_id;
}

std::optional<absl::Duration> RunProgress::TimeOf(ActionId action) const {
  const auto running = running_.find(action);
  if (running == running_.end()) return std::nullopt;
  return clock_() - running->second.start;
}

const WorkProgress* RunProgress::LastOf(ActionId action) const {
  const auto running = running_.find(action);
  return running == running_.end() ? nullptr : &running->second.progress;
}

RunProgress::Tally RunProgress::DoneBy(ActionId action, const Running& running) const {
  const double share = running.progress.fraction() - running.first_fraction.value_or(0);
  return {WorkOf(action) * share, absl::ToDoubleSeconds(clock_() - running.first_message)};
}

RunProgress::Rates RunProgress::RatesSoFar() const {
  const bool has_pace = expected_.seconds_per_pass > 0 && !expected_.is_rough;
  const double needed = has_pace ? kBetterRateNeedsSeconds : kRateNeedsSeconds;
  std::array<Tally, kKinds> tallies = finished_;
  for (const auto& [id, running] : running_) {
    if (IsUnknown(id)) continue;
    const Tally done = DoneBy(id, running);
    if (done.work <= 0 || done.seconds < needed) continue;
    tallies[KindOf(id)].work += done.work;
    tallies[KindOf(id)].seconds += done.seconds;
  }
  Tally all;
  for (const Tally& tally : tallies) {
    all.work += tally.work;
    all.seconds += tally.seconds;
  }
  Rates rates = {};
  for (int k = 0; k < kKinds; ++k) {
    const Tally& known = tallies[k].work > 0 ? tallies[k] : all;
    if (known.work > 0) rates[k] = known.seconds / known.work;
  }
  return rates;
}

bool RunProgress::IsKnown(const Rates& rates) {
  return std::any_of(rates.begin(), rates.end(), [](double rate) { return rate > 0; });
}

std::optional<absl::Duration> RunProgress::TimeLeft() const {
  if (unknown_left_ > 0) return std::nullopt;
  double seconds = 0, longest = 0;
  Rates rates = RatesSoFar();
  const bool is_known = IsKnown(rates);
  if (!is_known && expected_.seconds_per_pass <= 0) return std::nullopt;
  if (!is_known) rates.fill(expected_.seconds_per_pass);
  for (int k = 0; k < kKinds; ++k) seconds += work_left_[k] * rates[k];
  for (const auto& [id, running] : running_) {
    const double done = running.progress.fraction() * WorkOf(id) * rates[KindOf(id)];
    seconds -= done;
    longest = std::max(longest, WorkOf(id) * rates[KindOf(id)] - done);
  }
  const auto at_once = static_cast<double>(is_known ? std::max<size_t>(most_at_once_, 1)
                                                    : static_cast<size_t>(std::max(expected_.at_once, 1)));
  return absl::Seconds(std::max({seconds / at_once, longest, 0.0}));
}

void RunProgress::Describe(RunState* state) const {
  state->set_actions(total_);
  state->set_ended(ended_);
  state->set_failed(failed_);
  double work = ended_work_, actions = ended_;
  const auto describe = [this](ActionId id, RunningAction* action) {
    action->set_kind(KindName(plan_[id].kind));
    action->set_key(plan_[id].key);
    action->set_description(openset::Describe(plan_.TrialOf(plan_[id])));
  };
  for (const auto& [id, running] : running_) {
    RunningAction* action = state->add_running();
    describe(id, action);
    action->set_started_at_seconds(running.started_at_seconds);
    *action->mutable_progress() = running.progress;
    work += running.progress.fraction() * WorkOf(id);
    actions += running.progress.fraction();
    if (running.attempt > 1) action->set_attempt(running.attempt);
  }
  for (const auto& [id, run_id] : elsewhere_) {
    RunningAction* action = state->add_running();
    describe(id, action);
    action->set_elsewhere(RunName(run_id));
  }
  state->set_fraction(unknown_ > 0 ? actions / std::max(total_, 1) : work / std::max(total_work_, 1.0));
  if (const std::optional<absl::Duration> left = TimeLeft(); left.has_value()) {
    state->set_seconds_left(absl::ToDoubleSeconds(*left));
    if (expected_.is_rough && !IsKnown(RatesSoFar())) state->set_left_is_rough(true);
  }
}

}  // namespace openset
