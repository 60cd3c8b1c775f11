// Progress of a run on a terminal or in a log.
#ifndef OPENSET_TOOLS_CLI_RUN_DISPLAY_H_
#define OPENSET_TOOLS_CLI_RUN_DISPLAY_H_

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/plan/plan.h"

namespace openset {

// On a terminal, one line that is rewritten, with the share done, what runs and the time left, below a line for each
// action that ended. Elsewhere, plain lines: one for each action that ended and a progress line every 30 seconds.
//
// The time left is the remaining work (PlanNode.work) at the rate of this run so far; none is shown before there is a
// rate to go by.
class RunDisplay : public EngineObserver {
 public:
  RunDisplay(const Plan& plan, bool terminal, std::ostream* out);
  ~RunDisplay() override;

  void OnStart(int node) override;
  void OnProgress(int node, const WorkProgress& progress) override;
  void OnFinish(int node, const absl::Status& status) override;
  void OnSkip(int node) override;
  void OnStartFailure(int node, const absl::Status& status) override;
  void OnGrowth(const std::vector<int>& added) override;
  void OnTick() override;

 private:
  struct Running {
    absl::Time start;
    WorkProgress progress;
  };

  // Counts a node that is to be done.
  void Expect(const PlanNode& node);
  std::string ProgressLine() const;
  void EraseLine();
  void Line(const std::string& text);

  const Plan& plan_;
  const bool terminal_;
  std::ostream* out_;
  const absl::Time start_;
  absl::Time last_line_;
  int total_ = 0;
  int ended_ = 0;
  double total_work_ = 0;
  double done_work_ = 0;
  std::map<int, Running> running_;
  bool line_shown_ = false;
};

// "2m05s", "1h07m".
std::string ShortDuration(absl::Duration duration);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_DISPLAY_H_
