// Gives running actions the CPU slots that nothing else can use.
#ifndef OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_SLOTS_H_
#define OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_SLOTS_H_

#include <map>

#include "experiments/action/action.h"
#include "experiments/action/stage.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/scheduler.h"

namespace openset {

// Only actions whose results are bit-identical for any number of CPUs get more than they request, and only while no
// other action is ready: when they begin, and when others end.
class CpuSlots {
 public:
  // Both arguments must outlive the object.
  CpuSlots(Scheduler* scheduler, Engine* engine) : scheduler_(*scheduler), engine_(*engine) {}

  // Begins an action. Returns how many CPUs it may keep busy. `demand` is the size of its seat.
  int Begin(ActionId action, const Stage& stage, const Demand& demand);
  void End(ActionId action) { growing_.erase(action); }

  // Gives all free slots to one running action that can use them: the one with the smallest id.
  void GiveFree();

 private:
  Scheduler& scheduler_;
  Engine& engine_;
  std::map<ActionId, int> growing_;  // actions that can use more, with the slots that they have
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_SLOTS_H_
