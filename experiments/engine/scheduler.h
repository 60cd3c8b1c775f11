// Decides which action starts next, and on which seat. It is pure: it knows no processes, clock or plan. The caller
// reports events and asks what to start.
//
// The life of a scheduler:
//   1. Add() actions, inputs first. More may be added at any time.
//   2. Start the actions that Next() returns, until it returns none.
//   3. When a started action ends, report how: Finished(), Failed() or Cancelled(); or Postponed(), if it has to wait
//      for something else, and later Resumed(), Finished() or Failed(). Go back to 2.
// The run is over when Next() returns none and running() and postponed() are 0. Every action has then finished, failed
// or been skipped, except those that are still ready(): the engine could not start them (Cancelled()), or no GPU is
// open for them.
//
// Time: O(log n + d) for Next() and for the end of each action, amortised over the graph's edges; d is the number of
// different demands, a handful. Memory: about 50 bytes for each action up to the largest id, and 8 for each edge.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SCHEDULER_H_
#define OPENSET_EXPERIMENTS_ENGINE_SCHEDULER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "experiments/action/action.h"

namespace openset {

// The resources to share.
struct Capacity {
  int cpu_threads = 1;
  // The GPUs' ordinals. Each GPU has `shares_per_gpu` shares.
  std::vector<int> gpus;
  int shares_per_gpu = 1;
  // 0: memory is not counted.
  int64_t memory_mb = 0;
};

// Of the actions that could start, the one in the latest stage starts first (so that trials that have begun are
// completed), then the one with more work (so that no long action is left for the end), then the one with the smaller
// id.
struct Priority {
  int stage = 0;
  int64_t work = 0;  // in any unit
};

enum class ScheduleState {
  kUnknown,    // not added
  kWaiting,    // for inputs
  kReady,      // for a seat
  kRunning,    // returned by Next()
  kPostponed,  // returned by Next(), then given back to wait for something that the scheduler does not know
  kFinished,   // successfully
  kFailed,
  kSkipped,  // an input failed or was skipped; never started
};

class Scheduler {
 public:
  // Preconditions: at least one thread, and at least one share per GPU.
  explicit Scheduler(const Capacity& capacity);

  // Adds an action. If one of its inputs failed or was skipped, it is skipped immediately. Preconditions: it was not
  // added before; its inputs were, and each is listed once; there is a GPU if it needs a share of one.
  void Add(ActionId action, const Demand& demand, const Priority& priority, absl::Span<const ActionId> inputs);

  struct Start {
    ActionId action;
    int gpu = -1;  // ordinal; -1: runs on none
  };
  // Returns the first ready action, by priority, that fits in the free resources, and marks it as running. Returns
  // nothing if none fits: a seat is never left empty while a ready action fits in it.
  std::optional<Start> Next();

  // Gives a running action all free threads if no other action is ready, since nothing else could use them now. Returns
  // the number of threads added; they become free again with the action's seat.
  int Widen(ActionId action);

  // Ends a running or postponed action, successfully, and frees its seat.
  void Finished(ActionId action);
  // Ends it as failed. Returns the actions that are skipped as a result: those that depend on it, directly or
  // indirectly, and were not skipped before.
  std::vector<ActionId> Failed(ActionId action);
  // The action was not started, or was stopped before its end, through no fault of its own: it becomes ready again.
  void Cancelled(ActionId action);
  // No further actions start on the GPU of this running action; those that run there may continue.
  void CloseGpuOf(ActionId action);

  // Postponed() frees a running action's seat; Resumed() makes the action ready again.
  void Postponed(ActionId action);
  void Resumed(ActionId action);

  int running() const { return running_; }
  int ready() const { return ready_; }
  int postponed() const { return postponed_; }
  ScheduleState state(ActionId action) const {
    const auto place = static_cast<size_t>(action);
    return place < nodes_.size() ? nodes_[place].state : ScheduleState::kUnknown;
  }

 private:
  static constexpr int kNone = -1;

  struct Node {
    Priority priority;
    int demand = 0;  // index in demands_
    int missing_inputs = 0;
    int first_edge = kNone;  // of the list of its dependants
    int gpu = kNone;         // index in capacity_.gpus, while it runs on one
    int more_threads = 0;    // Widen()
    ScheduleState state = ScheduleState::kUnknown;
  };
  struct Edge {
    ActionId to;
    int next;
  };
  struct Candidate {
    Priority priority;
    ActionId action;
    // Whether `other` starts first.
    bool operator<(const Candidate& other) const {
      return std::tuple(priority.stage, priority.work, other.action) <
             std::tuple(other.priority.stage, other.priority.work, action);
    }
  };
  // The ready actions with the same demand.
  struct Queue {
    Demand demand;
    std::priority_queue<Candidate> ready;
  };

  int DemandIndex(Demand demand);
  bool Fits(const Demand& demand) const;
  void TakeSeat(Node* node);
  void LeaveSeat(ActionId action);
  // Ends a running or postponed action.
  void End(ActionId action, ScheduleState state);
  void MakeReady(ActionId action);
  Node& NodeOf(ActionId action) { return nodes_[static_cast<size_t>(action)]; }

  const Capacity capacity_;
  int free_threads_;
  int64_t free_memory_mb_;
  std::vector<int> free_shares_;              // of each GPU
  std::vector<bool> is_closed_;               // of each GPU
  std::set<std::pair<int, int>> freest_gpu_;  // {-free shares, index}, of open GPUs
  std::vector<Node> nodes_;                   // by ids
  std::vector<Edge> edges_;
  std::vector<Queue> demands_;
  std::map<std::tuple<int, int, int64_t>, int> demand_index_;
  int running_ = 0;
  int postponed_ = 0;
  int ready_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SCHEDULER_H_
