// Which of the actions that run get the CPU slots that nothing else can use.
#ifndef OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_SLOTS_H_
#define OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_SLOTS_H_

#include <map>

#include "experiments/action/action.h"
#include "experiments/action/stage.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/scheduler.h"

namespace openset {

// Only actions whose bits don't depend on the number of CPUs get more than they ask for, and only while no other action
// is ready: when they begin, and, if they can take them then, when others end.
class CpuSlots {
 public:
  // Both outlive it.
  CpuSlots(Scheduler* scheduler, Engine* engine) : scheduler_(*scheduler), engine_(*engine) {}

  // Of an action that begins: how many it may keep busy. `demand`: what its seat has.
  int Begin(ActionId action, const Stage& stage, const Demand& demand);
  void End(ActionId action) { growing_.erase(action); }

  // Gives all that are free to the action that runs, can take them and has the smallest id.
  void GiveFree();

 private:
  Scheduler& scheduler_;
  Engine& engine_;
  std::map<ActionId, int> growing_;  // those that can take more, with what they have
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_SLOTS_H_
