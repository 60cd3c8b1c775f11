// Runs a plan: the scheduler says what starts, an engine runs it, an observer is told.
#ifndef OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_
#define OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/engine.h"
#include "experiments/plan/plan.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Makes the choice of a kChoose node whose inputs are done: the plan grows by the tuned trial. Returns the nodes that
// are needed now and were not before, inputs first (Planner::Choose()).
using MakeChoice = std::function<absl::StatusOr<std::vector<int>>(int node)>;

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
  // It could not be started. While others run it will be tried again, when one of them has ended.
  virtual void OnStartFailure(int node, const absl::Status& status) = 0;
  // A choice, which OnStart() told of, added nodes that are needed; OnFinish() of it follows.
  virtual void OnGrowth(const std::vector<int>& added) = 0;
  // Several times a second.
  virtual void OnTick() = 0;
};

// Executes the needed actions of a plan, each as soon as its inputs and a seat are there; later steps of a trial before
// earlier ones, so that trials complete, then those with more work up to their record, so that none is left for the
// end. An action on the CPU takes as many threads as its trial has, one on a GPU one share of it, an evaluation one
// thread; and the memory that its kind takes. A choice takes no seat: it is made here, by `choose`, and what it adds to
// the plan is executed as well.
//
// A failed action is recorded in the store (FailureRecord) and what depends on it is skipped; everything else goes on.
// Where the engine cannot start an action nothing is lost: those that run go on to their end, and it is tried again
// whenever one of them has ended.
// SIGINT, SIGTERM or SIGHUP stops: what runs is killed, and what it did is resumed by the next run.
// Errors: kAborted if actions failed (with their number); kCancelled if it was stopped; kFailedPrecondition if an
// action needs a device that is not there; the engine's if an action could not be started and nothing runs any more.
absl::Status ExecutePlan(const Plan& plan, const MakeChoice& choose, const Store& store, const ActionMemory& memory,
                         Engine* engine, EngineObserver* observer);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_
