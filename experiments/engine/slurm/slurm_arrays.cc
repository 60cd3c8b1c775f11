#include "experiments/engine/slurm/slurm_arrays.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "experiments/action/stage.h"

namespace openset {

std::vector<PlannedArray> ArraysOf(const Plan& plan, const std::vector<ActionId>& actions, const ActionMemory& memory,
                                   int actions_per_task, int most_tasks) {
  const auto needs = [&](ActionId id) { return StageOf(plan[id]).Needs(plan.TrialOf(plan[id]), memory); };
  // Steps before an action of the list, and below its array.
  std::map<ActionId, int> depth, array_of;
  // By depth first, so that inputs' arrays come before.
  std::map<std::tuple<int, ActionKind, int, int, int64_t>, std::vector<ActionId>> groups;
  for (const ActionId id : actions) {
    int steps = 0;
    for (const ActionId input : plan[id].inputs) {
      const auto before = depth.find(plan.CarrierOf(input));
      if (before != depth.end()) steps = std::max(steps, before->second + 1);
    }
    depth[id] = steps;
    const Demand demand = needs(id);
    groups[{steps, plan[id].kind, demand.gpu_shares, demand.cpu_threads, demand.memory_mb}].push_back(id);
  }
  std::vector<PlannedArray> arrays;
  for (auto& [group, members] : groups) {
    std::stable_sort(members.begin(), members.end(),
                     [&plan](ActionId a, ActionId b) { return plan[a].work > plan[b].work; });
    PlannedArray* array = nullptr;
    for (size_t i = 0; i < members.size(); ++i) {
      const ActionId id = members[i];
      if (i % actions_per_task == 0) {
        if (array == nullptr || static_cast<int>(array->tasks.size()) == most_tasks) {
          array = &arrays.emplace_back();
          array->demand = needs(id);
          array->kind = plan[id].kind;
        }
        array->tasks.emplace_back();
      }
      array->tasks.back().push_back(id);
      array_of[id] = static_cast<int>(arrays.size()) - 1;
      for (const ActionId input : plan[id].inputs) {
        if (const auto before = array_of.find(plan.CarrierOf(input)); before != array_of.end()) {
          array->after.insert(before->second);
        } else if (!plan[input].is_done()) {
          array->other_inputs.insert(plan.CarrierOf(input));
        }
      }
    }
  }
  return arrays;
}

std::string DescribeArray(const PlannedArray& array) {
  const Demand& demand = array.demand;
  std::string text = absl::StrCat(KindName(array.kind), ", ");
  if (demand.gpu_shares > 0) {
    absl::StrAppend(&text, "1 GPU");
  } else {
    absl::StrAppend(&text, demand.cpu_threads, demand.cpu_threads == 1 ? " CPU" : " CPUs");
  }
  if (demand.memory_mb > 0) absl::StrAppend(&text, ", ", demand.memory_mb, " MB");
  return text;
}

}  // namespace openset
