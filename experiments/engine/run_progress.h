// The progress of a run, and an estimate of the time left.
#ifndef OPENSET_EXPERIMENTS_ENGINE_RUN_PROGRESS_H_
#define OPENSET_EXPERIMENTS_ENGINE_RUN_PROGRESS_H_

#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "experiments/plan/plan.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Whether the action is a training by another program (training.command), which may take any time.
bool IsByCommand(const Plan& plan, ActionId action);

// The expected speed of a run before it has done anything, from other sources (experiments/plan/cost.h).
struct ExpectedPace {
  double seconds_per_pass = 0;  // per pass of one image (Action.work), in one action; 0: not known
  int at_once = 1;              // actions that run at the same time
  bool is_rough = false;        // most of the work has no measurement
};

// Counts the events of a plan's actions.
//
// The time left is the remaining work at this run's rates so far, divided by the largest number of actions that have
// run at the same time. The rates are the seconds per image pass (Action.work) of trainings and of inferences, and the
// seconds per evaluation, each from the finished actions of the kind and the progress of the running ones. A kind
// without measurements uses the rate of all kinds together; before anything is measured, all kinds use the expected
// pace. The time left is at least the time that the longest running action needs. It is absent if nothing has been
// measured and no pace was expected, and until the last training by a command has ended: its work is unknown, and then
// the fraction done is that of actions.
class RunProgress {
 public:
  // Counts the needed actions of the plan, which may grow. `clock` returns the time since any fixed point.
  explicit RunProgress(const Plan& plan, std::function<absl::Duration()> clock = nullptr, ExpectedPace expected = {});

  void Expect(ActionId action);
  void Start(ActionId action);
  void Advance(ActionId action, const WorkProgress& progress);
  // The action was done, either here after Start(), or without Start(): as a passenger or in another process.
  void Finish(ActionId action);
  void Fail(ActionId action);
  void Skip(ActionId action);
  // The action has not begun after all.
  void TakeBack(ActionId action);
  // The action was stopped, and waits for its next attempt (Retry()) or for the process that works on it (WaitFor()).
  void Retry(ActionId action);
  void WaitFor(ActionId action, const std::string& run_id);

  int total() const { return total_; }
  int ended() const { return ended_; }
  // The time since Start(); absent if the action does not run here.
  std::optional<absl::Duration> TimeOf(ActionId action) const;
  // The action's last progress message; null if it does not run here.
  const WorkProgress* LastOf(ActionId action) const;
  std::optional<absl::Duration> TimeLeft() const;

  // Sets all fields about progress.
  void Describe(RunState* state) const;

 private:
  static constexpr int kKinds = std::size(kActionKinds);

  struct Running {
    absl::Duration start;
    double started_at_seconds = 0;
    std::optional<double> first_fraction;  // at its first message; above 0 if a training was resumed
    absl::Duration first_message;          // when it came: the worker's start says nothing about the pace
    WorkProgress progress;
    int attempt = 1;
  };
  struct Tally {
    double work = 0;
    double seconds = 0;
  };

  // Seconds per unit of work, by kind; 0: nothing is known about any kind.
  using Rates = std::array<double, kKinds>;

  double WorkOf(ActionId action) const;
  int KindOf(ActionId action) const { return static_cast<int>(plan_[action].kind); }
  // Whether nobody knows how long it takes.
  bool IsUnknown(ActionId action) const { return IsByCommand(plan_, action); }
  // Returns the work that a running action has done since its first message, and the time.
  Tally DoneBy(ActionId action, const Running& running) const;
  void End(ActionId action);
  // Returns the rates of this run so far, by kind.
  Rates RatesSoFar() const;
  static bool IsKnown(const Rates& rates);

  const Plan& plan_;
  const std::function<absl::Duration()> clock_;
  const ExpectedPace expected_;
  int total_ = 0, ended_ = 0, failed_ = 0;
  int unknown_ = 0, unknown_left_ = 0;  // trainings by commands
  double total_work_ = 0, ended_work_ = 0;
  std::array<double, kKinds> work_left_ = {};  // of all actions that have not ended
  std::array<Tally, kKinds> finished_ = {};
  size_t most_at_once_ = 1;
  std::map<ActionId, Running> running_;
  std::map<ActionId, std::string> elsewhere_;  // run ids
  std::map<ActionId, int> attempts_;           // failed attempts
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_RUN_PROGRESS_H_
