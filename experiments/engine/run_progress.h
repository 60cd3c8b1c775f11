// How far a run is, and how long it will still take.
#ifndef OPENSET_EXPERIMENTS_ENGINE_RUN_PROGRESS_H_
#define OPENSET_EXPERIMENTS_ENGINE_RUN_PROGRESS_H_

#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "experiments/plan/plan.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// What a run is expected to take before it has done anything, from elsewhere (experiments/plan/cost.h).
struct ExpectedPace {
  double seconds_per_pass = 0;  // of an image (Action.work), in one action; 0: not known
  int at_once = 1;              // actions
  bool is_rough = false;        // nothing was measured of most of it
};

// Counts what happens to the actions of a plan.
//
// The time left is the work that remains at the rates of this run so far, over as many actions at once as it has done:
// the seconds that an image pass (Action.work) takes in a training and in an inference, and that an evaluation takes,
// each by the actions of its kind that finished, and by what those that run have done. A kind that nothing is known of
// counts as the others do, and before anything is known all go at the expected pace. It is never less than what the
// longest running action needs; none where no pace was expected either, before anything is known.
class RunProgress {
 public:
  // The needed actions of the plan, which may grow. `clock` gives the time since any fixed point.
  explicit RunProgress(const Plan& plan, std::function<absl::Duration()> clock = nullptr, ExpectedPace expected = {});

  void Expect(ActionId action);
  void Start(ActionId action);
  void Advance(ActionId action, const WorkProgress& progress);
  // It ended here, after Start(); or without it: as a passenger, or in another process.
  void Finish(ActionId action);
  void Fail(ActionId action);
  void Skip(ActionId action);
  // It has not begun after all.
  void TakeBack(ActionId action);
  // It was stopped, and waits for its next attempt, or for the process that works on it.
  void Retry(ActionId action);
  void WaitFor(ActionId action, const std::string& run_id);

  int total() const { return total_; }
  int ended() const { return ended_; }
  // Since Start(); absent if it does not run here.
  std::optional<absl::Duration> TimeOf(ActionId action) const;
  // The last word of it.
  const WorkProgress* LastOf(ActionId action) const;
  std::optional<absl::Duration> TimeLeft() const;

  // All fields that tell of progress.
  void Describe(RunState* state) const;

 private:
  static constexpr int kKinds = std::size(kActionKinds);

  struct Running {
    absl::Duration start;
    double started_at_seconds = 0;
    std::optional<double> first_fraction;  // that it began with: a training that goes on
    WorkProgress progress;
    int attempt = 1;
  };
  struct Tally {
    double work = 0;
    double seconds = 0;
  };

  // Seconds that a unit of work takes, by kind; 0: not known of any.
  using Rates = std::array<double, kKinds>;

  double WorkOf(ActionId action) const;
  int KindOf(ActionId action) const { return static_cast<int>(plan_[action].kind); }
  // What a running action has done since its start.
  Tally DoneBy(ActionId action, const Running& running) const;
  void End(ActionId action);
  // By kind, of this run so far.
  Rates RatesSoFar() const;
  static bool IsKnown(const Rates& rates);

  const Plan& plan_;
  const std::function<absl::Duration()> clock_;
  const ExpectedPace expected_;
  int total_ = 0, ended_ = 0, failed_ = 0;
  double total_work_ = 0, ended_work_ = 0;
  std::array<double, kKinds> work_left_ = {};  // of all that has not ended
  std::array<Tally, kKinds> finished_ = {};
  size_t most_at_once_ = 1;
  std::map<ActionId, Running> running_;
  std::map<ActionId, std::string> elsewhere_;  // run ids
  std::map<ActionId, int> attempts_;           // that failed
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_RUN_PROGRESS_H_
