#include "experiments/engine/slurm/slurm_arrays.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "experiments/engine/node_action.h"

namespace openset {

std::vector<PlannedArray> ArraysOf(const Plan& plan, const std::vector<int>& nodes, const ActionMemory& memory,
                                   int actions_per_task, int most_tasks) {
  // Steps before a node, within the list; -1 of those that are not in it.
  std::vector<int> depth(plan.nodes.size(), -1);
  // By depth first, so that inputs' arrays come before.
  std::map<std::tuple<int, ActionKind, int, int, int64_t>, std::vector<int>> groups;
  for (const int n : nodes) {
    const PlanNode& node = plan.nodes[n];
    depth[n] = 0;
    for (const int input : node.inputs) depth[n] = std::max(depth[n], depth[input] + 1);
    const Demand demand = DemandOf(plan, node, memory);
    for (const int passenger : node.together) depth[passenger] = depth[n];
    groups[{depth[n], node.kind, demand.gpu_shares, demand.cpu_threads, demand.memory_mb}].push_back(n);
  }
  std::vector<PlannedArray> arrays;
  std::map<int, int> array_of;  // of a node
  for (auto& [group, members] : groups) {
    std::stable_sort(members.begin(), members.end(),
                     [&plan](int a, int b) { return plan.nodes[a].work > plan.nodes[b].work; });
    PlannedArray* array = nullptr;
    for (size_t i = 0; i < members.size(); ++i) {
      if (i % actions_per_task == 0) {
        if (array == nullptr || static_cast<int>(array->tasks.size()) == most_tasks) {
          array = &arrays.emplace_back();
          array->demand = DemandOf(plan, plan.nodes[members[i]], memory);
          array->kind = plan.nodes[members[i]].kind;
        }
        array->tasks.emplace_back();
      }
      const int n = members[i];
      array->tasks.back().push_back(n);
      array_of[n] = static_cast<int>(arrays.size()) - 1;
      for (const int passenger : plan.nodes[n].together) array_of[passenger] = array_of[n];
      for (const int input : plan.nodes[n].inputs) {
        if (depth[input] >= 0) {
          array->after.insert(array_of.at(input));
        } else if (!plan.nodes[input].done) {
          array->other_inputs.insert(input);
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
