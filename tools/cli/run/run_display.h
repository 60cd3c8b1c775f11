// Progress of a run on a terminal or in a log.
#ifndef OPENSET_TOOLS_CLI_RUN_RUN_DISPLAY_H_
#define OPENSET_TOOLS_CLI_RUN_RUN_DISPLAY_H_

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/run_progress.h"
#include "experiments/plan/plan.h"

namespace openset {

struct RunDisplayOptions {
  // The experiment's name, what the command line changed in it, and the task of Slurm that this process is, if it is
  // one.
  std::string experiment;
  std::vector<std::string> laid_over = {};
  std::string slurm_job;
  // The store's folder, where the logs of actions that fail are found; "": none is named.
  std::string store;
  // Of the terminal that it writes to, asked anew each time; absent: it is none.
  std::function<int()> width;
  // Since any fixed point of time; absent: the system's.
  std::function<absl::Duration()> clock;
  // What the time left begins with.
  ExpectedPace expected;
  // Called by OnBegin(); absent: nothing is.
  std::function<void(const std::vector<std::string>& quarantined, const std::vector<RunState>& others)> on_begin;
  // Called when records have come and enough time has passed since the last call, and returns a line to print, or "";
  // absent: nothing is.
  std::function<std::string()> refresh_report;
};

// On a terminal: a line for each action that ended; below, rewritten several times a second, a line for each action
// that runs and a bar with the share done and the time left. Elsewhere: plain lines, one for each action that ended and
// one with the share, the time left and what runs every 30 seconds.
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
  // "; log: PATH", if it said something.
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
  std::set<ActionId> started_;       // here, and not ended
  std::set<ActionId> elsewhere_;     // that another process works on
  std::set<std::string> lost_gpus_;  // what was said of them
  absl::Duration last_block_, last_report_;
  absl::Duration report_cost_;
  bool has_new_records_ = false;
  int block_lines_ = 0;  // on the terminal now
};

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_RUN_DISPLAY_H_
