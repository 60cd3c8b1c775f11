// The amount of work that follows each action of a plan.
#ifndef OPENSET_EXPERIMENTS_ENGINE_WORK_AHEAD_H_
#define OPENSET_EXPERIMENTS_ENGINE_WORK_AHEAD_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "experiments/plan/plan.h"

namespace openset {

// Sets (*work)[id] of each of these actions (inputs first) to its own work plus that of the longest path from it to a
// record. `work` may already contain actions that they depend on.
inline void AddWork(const Plan& plan, const std::vector<ActionId>& needed, std::vector<int64_t>* work) {
  work->resize(plan.actions.size());
  const auto work_of = [work](ActionId id) -> int64_t& { return (*work)[static_cast<size_t>(id)]; };
  for (auto id = needed.rbegin(); id != needed.rend(); ++id) {
    work_of(*id) += plan[*id].work;  // added to the work of the paths after it
    for (const ActionId input : plan[*id].inputs) work_of(input) = std::max(work_of(input), work_of(*id));
  }
}

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_WORK_AHEAD_H_
