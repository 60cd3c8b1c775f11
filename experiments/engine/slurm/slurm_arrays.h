// A plan's actions as job arrays.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_ARRAYS_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_ARRAYS_H_

#include <set>
#include <string>
#include <vector>

#include "experiments/action/action.h"
#include "experiments/action/action_memory.pb.h"
#include "experiments/plan/plan.h"

namespace openset {

struct PlannedArray {
  // What each of its tasks takes: one action at a time.
  Demand demand;
  ActionKind kind = ActionKind::kTrain;
  // Actions of each task, inputs first.
  std::vector<std::vector<ActionId>> tasks;
  // Arrays of the same list, before this one, that make its inputs.
  std::set<int> after;
  // Inputs that nothing in the list makes and that are not done.
  std::set<ActionId> other_inputs;
};

// One array for each kind of action and what it takes, of those that wait for the same number of steps before them;
// several where one would have more than `most_tasks` tasks. The actions are in the order of the plan, without choices
// and what waits for them. Those with most work come first. A task does `actions_per_task` actions one after the other.
std::vector<PlannedArray> ArraysOf(const Plan& plan, const std::vector<ActionId>& actions, const ActionMemory& memory,
                                   int actions_per_task, int most_tasks);

// "train, 1 GPU", "evaluate, 1 CPU, 500 MB".
std::string DescribeArray(const PlannedArray& array);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_ARRAYS_H_
