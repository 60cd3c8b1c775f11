#include "experiments/engine/scheduler.h"

#include <algorithm>
#include <utility>

#include "core/logging.h"

namespace openset {

Scheduler::Scheduler(const Capacity& capacity)
    : capacity_(capacity),
      free_threads_(capacity.cpu_threads),
      free_memory_mb_(capacity.memory_mb),
      free_shares_(capacity.gpus.size(), capacity.shares_per_gpu),
      is_closed_(capacity.gpus.size(), false) {
  CHECK_GE(capacity_.cpu_threads, 1);
  CHECK_GE(capacity_.shares_per_gpu, 1);
  CHECK_GE(capacity_.memory_mb, 0);
  for (int g = 0; g < free_shares_.size(); ++g) freest_gpu_.insert({-free_shares_[g], g});
}

int Scheduler::Add(const Demand& demand, const Priority& priority, absl::Span<const int> inputs) {
  CHECK(demand.gpu_shares == 0 || !capacity_.gpus.empty()) << "no GPU to share";
  const int added = size();
  Node node{priority, DemandIndex(demand)};
  bool skipped = false;
  for (const int input : inputs) {
    CHECK(input >= 0 && input < added) << "inputs come first";
    Node& from = nodes_[input];
    if (from.state == NodeState::kFinished) continue;
    skipped |= from.state == NodeState::kFailed || from.state == NodeState::kSkipped;
    edges_.push_back({added, from.first_edge});
    from.first_edge = static_cast<int>(edges_.size()) - 1;
    ++node.missing_inputs;
  }
  if (skipped) node.state = NodeState::kSkipped;
  nodes_.push_back(node);
  if (!skipped && node.missing_inputs == 0) MakeReady(added);
  return added;
}

std::optional<Scheduler::Start> Scheduler::Next() {
  Queue* best = nullptr;
  for (Queue& queue : demands_) {
    if (queue.ready.empty() || !Fits(queue.demand)) continue;
    if (best == nullptr || best->ready.top() < queue.ready.top()) best = &queue;
  }
  if (best == nullptr) return std::nullopt;
  const int started = best->ready.top().node;
  best->ready.pop();
  --ready_;
  Node& node = nodes_[started];
  TakeSeat(&node);
  return Start{started, node.gpu == kNone ? -1 : capacity_.gpus[node.gpu]};
}

void Scheduler::Finished(int node) {
  End(node, NodeState::kFinished);
  for (int e = nodes_[node].first_edge; e != kNone; e = edges_[e].next) {
    Node& dependent = nodes_[edges_[e].to];
    if (--dependent.missing_inputs == 0 && dependent.state == NodeState::kWaiting) MakeReady(edges_[e].to);
  }
}

std::vector<int> Scheduler::Failed(int node) {
  End(node, NodeState::kFailed);
  std::vector<int> skipped;
  // Those found so far, and behind them those that depend on them.
  const auto skip_dependents = [this, &skipped](int of) {
    for (int e = nodes_[of].first_edge; e != kNone; e = edges_[e].next) {
      NodeState& state = nodes_[edges_[e].to].state;
      if (state != NodeState::kWaiting) continue;
      state = NodeState::kSkipped;
      skipped.push_back(edges_[e].to);
    }
  };
  skip_dependents(node);
  for (size_t i = 0; i < skipped.size(); ++i) skip_dependents(skipped[i]);
  return skipped;
}

void Scheduler::Cancelled(int node) {
  LeaveSeat(node);
  MakeReady(node);
}

int Scheduler::Widen(int node) {
  if (ready_ > 0) return 0;
  const int more = std::exchange(free_threads_, 0);
  nodes_[node].more_threads += more;
  return more;
}

void Scheduler::CloseGpuOf(int node) {
  const int gpu = nodes_[node].gpu;
  CHECK_NE(gpu, kNone) << "node " << node << " is on no GPU";
  is_closed_[gpu] = true;
  freest_gpu_.erase({-free_shares_[gpu], gpu});
}

void Scheduler::Postponed(int node) {
  LeaveSeat(node);
  nodes_[node].state = NodeState::kPostponed;
  ++postponed_;
}

void Scheduler::Resumed(int node) {
  CHECK(nodes_[node].state == NodeState::kPostponed) << "node " << node << " is not postponed";
  --postponed_;
  MakeReady(node);
}

int Scheduler::DemandIndex(Demand demand) {
  demand.cpu_threads = std::min(demand.cpu_threads, capacity_.cpu_threads);
  demand.gpu_shares = std::min(demand.gpu_shares, capacity_.shares_per_gpu);
  demand.memory_mb = std::min(demand.memory_mb, capacity_.memory_mb);
  const auto [entry, is_new] = demand_index_.try_emplace({demand.cpu_threads, demand.gpu_shares, demand.memory_mb},
                                                         static_cast<int>(demands_.size()));
  if (is_new) demands_.push_back({demand, {}});
  return entry->second;
}

bool Scheduler::Fits(const Demand& demand) const {
  return demand.cpu_threads <= free_threads_ && demand.memory_mb <= free_memory_mb_ &&
         (demand.gpu_shares == 0 || (!freest_gpu_.empty() && demand.gpu_shares <= -freest_gpu_.begin()->first));
}

void Scheduler::TakeSeat(Node* node) {
  const Demand& demand = demands_[node->demand].demand;
  free_threads_ -= demand.cpu_threads;
  free_memory_mb_ -= demand.memory_mb;
  if (demand.gpu_shares > 0) {
    node->gpu = freest_gpu_.begin()->second;
    freest_gpu_.erase(freest_gpu_.begin());
    free_shares_[node->gpu] -= demand.gpu_shares;
    freest_gpu_.insert({-free_shares_[node->gpu], node->gpu});
  }
  node->state = NodeState::kRunning;
  ++running_;
}

void Scheduler::End(int node, NodeState state) {
  if (nodes_[node].state == NodeState::kPostponed) {
    --postponed_;
  } else {
    LeaveSeat(node);
  }
  nodes_[node].state = state;
}

void Scheduler::LeaveSeat(int node) {
  Node& left = nodes_[node];
  CHECK(left.state == NodeState::kRunning) << "node " << node << " does not run";
  const Demand& demand = demands_[left.demand].demand;
  free_threads_ += demand.cpu_threads + std::exchange(left.more_threads, 0);
  free_memory_mb_ += demand.memory_mb;
  if (left.gpu != kNone) {
    freest_gpu_.erase({-free_shares_[left.gpu], left.gpu});
    free_shares_[left.gpu] += demand.gpu_shares;
    if (!is_closed_[left.gpu]) freest_gpu_.insert({-free_shares_[left.gpu], left.gpu});
    left.gpu = kNone;
  }
  --running_;
}

void Scheduler::MakeReady(int node) {
  nodes_[node].state = NodeState::kReady;
  ++ready_;
  demands_[nodes_[node].demand].ready.push({nodes_[node].priority, node});
}

}  // namespace openset
