// The text of a run's state (RunState), and its display in a terminal.
#ifndef OPENSET_TOOLS_CLI_RUN_RUN_DISPLAY_H_
#define OPENSET_TOOLS_CLI_RUN_RUN_DISPLAY_H_

#include <cstddef>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/run_progress.h"
#include "experiments/plan/plan.h"
#include "experiments/store/processes/run_state.pb.h"

namespace openset {

// ---- The text of a run's state (RunState), for the terminal in which it runs and for `openset status`.

// "2m05s", "1h07m".
std::string ShortDuration(absl::Duration duration);

// Shortens a text to `width` characters, the last three of which are then "...".
std::string Shortened(const std::string& text, size_t width);

// "quickstart", "quickstart --set=training.epochs=2".
std::string StudyText(const RunState& run);

// Who runs it: "anna on HOST, process PID".
std::string RunnerText(const RunState& run);

// "3/12 actions, 34 %, 12m05s left, 1 failed".
std::string TotalLine(const RunState& run);

// The same after a bar of `width` characters: "[####......] 3/12 ...".
std::string BarLine(const RunState& run, int width);

// "train openauc on fashion_mnist, split 1, seed 0: epoch 3/20, loss 0.412, accuracy 0.881, 1234 images/s"; for one
// of another process, "...: by HOST, process PID".
std::string ActionLine(const RunningAction& action);

// ---- Progress of a run on a terminal or in a log.

struct RunDisplayOptions {
  // The study's name, what the command line changed in it, and, if this process is a job of Slurm, the job.
  std::string experiment;
  std::vector<std::string> overrides = {};
  std::string slurm_job;
  // The store's folder, which has the logs of failed actions; "": messages name no logs.
  std::string store;
  // Returns the width of the terminal, and is called each time it is needed. Absent: there is no terminal.
  std::function<int()> width;
  // The time since any fixed point. Absent: the system's.
  std::function<absl::Duration()> clock;
  // The pace from which the time left is estimated at first.
  ExpectedPace expected;
  // Called by OnBegin(). May be absent.
  std::function<void(const std::vector<std::string>& quarantined, const std::vector<RunState>& others)> on_begin;
  // Called when there are new records and enough time has passed since the last call. Returns a line to print, or "".
  // May be absent.
  std::function<std::string()> refresh_report;
};

// On a terminal, prints a line for each action that ended. Below, it shows a line for each action that runs, and a bar
// with the fraction done and the time left, and rewrites them several times a second. Elsewhere, it prints a line for
// each action that ended, and every 30 seconds a line with the fraction, the time left and the running actions.
class RunDisplay : public EngineObserver {
 public:
  RunDisplay(const Plan& plan, RunDisplayOptions options, std::ostream* out);
  ~RunDisplay() override;

  void OnBegin(const std::vector<std::string>& quarantined, const std::vector<RunState>& others) override;
  void OnStart(ActionId action) override;
  void OnProgress(ActionId action, const WorkProgress& progress) override;
  void OnFinish(ActionId action, const absl::Status& status) override;
  void OnSkip(ActionId action) override;
  void OnStartFailure(ActionId action, const absl::Status& status) override;
  void OnGpuLost(ActionId action, const absl::Status& why) override;
  void OnRetry(ActionId action, const absl::Status& status, absl::Duration wait) override;
  void OnElsewhere(ActionId action, const std::string& run_id, bool was_ours) override;
  void OnGrowth(const std::vector<ActionId>& added) override;
  void OnTick() override;
  void Describe(RunState* state) const override;

 private:
  std::string What(ActionId action) const;
  // "; log: PATH" if the action wrote a log, otherwise "".
  std::string LogOf(ActionId action) const;
  void RefreshReport();
  void DrawBlock();
  void EraseBlock();
  void Line(const std::string& text);

  const Plan& plan_;
  const RunDisplayOptions options_;
  const std::function<absl::Duration()> clock_;
  std::ostream* out_;
  RunProgress progress_;
  std::set<ActionId> started_;       // by this process, and not ended
  std::set<ActionId> elsewhere_;     // run by other processes
  std::set<std::string> lost_gpus_;  // messages that were printed
  absl::Duration last_block_, last_report_;
  absl::Duration report_cost_;
  bool has_new_records_ = false;
  int block_lines_ = 0;  // on the terminal now
};

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_RUN_DISPLAY_H_
