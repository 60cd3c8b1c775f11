// Runs a plan on this machine.
#ifndef OPENSET_EXPERIMENTS_ENGINE_LOCAL_ENGINE_H_
#define OPENSET_EXPERIMENTS_ENGINE_LOCAL_ENGINE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/plan/plan.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker.pb.h"

namespace openset {

// Told what happens, in the thread that runs the plan. Node numbers are those of Plan.nodes.
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  virtual void OnStart(int node) = 0;
  virtual void OnProgress(int node, const WorkProgress& progress) = 0;
  // Also of a node that was done together with another one and never started itself.
  virtual void OnFinish(int node, const absl::Status& status) = 0;
  // An input failed, so this is not tried.
  virtual void OnSkip(int node) = 0;
  // Several times a second.
  virtual void OnTick() = 0;
};

struct LocalEngineOptions {
  // Command lines of the workers: one that trains and infers (with LibTorch), one that evaluates.
  std::vector<std::string> trainer;
  std::vector<std::string> evaluator;
  // An action on the CPU takes as many slots as its trial has threads (at most all of them).
  int cpu_slots = 1;
  // One action at a time on each.
  std::vector<int> cuda_devices;
  std::vector<std::string> data_folders;
};

// Executes the needed actions of a plan, each as soon as its inputs and a slot are there. Workers are processes that
// live on from action to action; one that dies takes its action with it, nothing else. A failed action is recorded in
// the store (FailureRecord) and what depends on it is skipped; everything else goes on.
// SIGINT, SIGTERM or SIGHUP stops: running workers are killed, and what they did is resumed by the next run.
// Errors: kAborted if actions failed (with their number); kCancelled if it was stopped; kFailedPrecondition if an
// action needs a device that is not there.
absl::Status RunLocally(const Plan& plan, const Store& store, const LocalEngineOptions& options,
                        EngineObserver* observer);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_LOCAL_ENGINE_H_
