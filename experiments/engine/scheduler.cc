#include "experiments/engine/scheduler.h"

#include <algorithm>

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

void Scheduler::Add(ActionId action, const Demand& demand, const Priority& priority,
                    absl::Span<const ActionId> inputs) {
  CHECK(demand.gpu_shares == 0 || !capacity_.gpus.empty()) << "no GPU to share";
  CHECK(state(action) == ScheduleState::kUnknown) << "added twice";
  if (nodes_.size() <= static_cast<size_t>(action)) nodes_.resize(static_cast<size_t>(action) + 1);
  Node& node = NodeOf(action);
  node.priority = priority;
  node.demand = DemandIndex(demand);
  node.state = ScheduleState::kWaiting;
  for (const ActionId input : inputs) {
    CHECK(state(input) != ScheduleState::kUnknown && input != action) << "inputs come first";
    Node& from = NodeOf(input);
    if (from.state == ScheduleState::kFinished) continue;
    if (from.state == ScheduleState::kFailed || from.state == ScheduleState::kSkipped) {
      node.state = ScheduleState::kSkipped;
    }
    edges_.push_back({action, from.first_edge});
    from.first_edge = static_cast<int>(edges_.size()) - 1;
    ++node.missing_inputs;
  }
  if (node.state == ScheduleState::kWaiting && node.missing_inputs == 0) MakeReady(action);
}

std::optional<Scheduler::Start> Scheduler::Next() {
  Queue* best = nullptr;
  for (Queue& queue : demands_) {
    if (queue.ready.empty() || !Fits(queue.demand)) continue;
    if (best == nullptr || best->ready.top() < queue.ready.top()) best = &queue;
  }
  if (best == nullptr) return std::nullopt;
  const ActionId started = best->ready.top().action;
  best->ready.pop();
  --ready_;
  Node& node = NodeOf(started);
  TakeSeat(&node);
  return Start{started, node.gpu == kNone ? -1 : capacity_.gpus[node.gpu]};
}

void Scheduler::Finished(ActionId action) {
  End(action, ScheduleState::kFinished);
  for (int e = NodeOf(action).first_edge; e != kNone; e = edges_[e].next) {
    Node& dependent = NodeOf(edges_[e].to);
    if (--dependent.missing_inputs == 0 && dependent.state == ScheduleState::kWaiting) MakeReady(edges_[e].to);
  }
}

std::vector<ActionId> Scheduler::Failed(ActionId action) {
  End(action, ScheduleState::kFailed);
  std::vector<ActionId> skipped;
  // Acts as a queue: actions found so far, followed by their dependants.
  const auto skip_dependents = [this, &skipped](ActionId of) {
    for (int e = NodeOf(of).first_edge; e != kNone; e = edges_[e].next) {
      ScheduleState& state = NodeOf(edges_[e].to).state;
      if (state != ScheduleState::kWaiting) continue;
      state = ScheduleState::kSkipped;
      skipped.push_back(edges_[e].to);
    }
  };
  skip_dependents(action);
  for (size_t i = 0; i < skipped.size(); ++i) skip_dependents(skipped[i]);
  return skipped;
}

void Scheduler::Cancelled(ActionId action) {
  LeaveSeat(action);
  MakeReady(action);
}

int Scheduler::Widen(ActionId action) {
  if (ready_ > 0) return 0;
  const int more = std::exchange(free_threads_, 0);
  NodeOf(action).more_threads += more;
  return more;
}

void Scheduler::CloseGpuOf(ActionId action) {
  const int gpu = NodeOf(action).gpu;
  CHECK_NE(gpu, kNone) << "the action is on no GPU";
  is_closed_[gpu] = true;
  freest_gpu_.erase({-free_shares_[gpu], gpu});
}

void Scheduler::Postponed(ActionId action) {
  LeaveSeat(action);
  NodeOf(action).state = ScheduleState::kPostponed;
  ++postponed_;
}

void Scheduler::Resumed(ActionId action) {
  CHECK(state(action) == ScheduleState::kPostponed) << "the action is not postponed";
  --postponed_;
  MakeReady(action);
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
  node->state = ScheduleState::kRunning;
  ++running_;
}

void Scheduler::End(ActionId action, ScheduleState state) {
  if (NodeOf(action).state == ScheduleState::kPostponed) {
    --postponed_;
  } else {
    LeaveSeat(action);
  }
  NodeOf(action).state = state;
}

void Scheduler::LeaveSeat(ActionId action) {
  Node& left = NodeOf(action);
  CHECK(left.state == ScheduleState::kRunning) << "action " << static_cast<int>(action) << " does not run";
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

void Scheduler::MakeReady(ActionId action) {
  Node& node = NodeOf(action);
  node.state = ScheduleState::kReady;
  ++ready_;
  demands_[node.demand].ready.push({node.priority, action});
}

}  // namespace openset
