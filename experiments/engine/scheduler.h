// Which action starts next, and on which seat. Pure: it knows no processes, no clock and no plan. What happened is told
// to it, what to start is asked of it.
//
// The life of a scheduler:
//   1. Add() actions, inputs first. More may come at any time.
//   2. Start what Next() gives, until it gives nothing.
//   3. When an action that was started ends, say how: Finished(), Failed() or Cancelled(); or Postponed(), if it has to
//      wait for something else, and later Resumed(), Finished() or Failed(). Back to 2.
// It is over when Next() gives nothing and running() and postponed() are 0. Every action has then finished, failed or
// been skipped, unless its engine could not start it (Cancelled) or no GPU is open any more for it: of these some are
// ready().
//
// Time: O(log n + d) for Next() and for each start's end, amortised over the graph's edges; d is the number of
// different demands, a handful. Memory: about 50 bytes an action up to the largest id, 8 an edge.
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

// What there is to share.
struct Capacity {
  int cpu_threads = 1;
  // Ordinals. Each has `shares_per_gpu` shares.
  std::vector<int> gpus;
  int shares_per_gpu = 1;
  // 0: memory is not counted.
  int64_t memory_mb = 0;
};

// Of two actions that could start, the one of the later stage does (so that what has begun completes), then the one
// with more work (so that no long one is left for the end), then the one of the smaller id.
struct Priority {
  int stage = 0;
  int64_t work = 0;  // in any unit
};

enum class ScheduleState {
  kUnknown,    // not added
  kWaiting,    // for inputs
  kReady,      // for a seat
  kRunning,    // given out by Next()
  kPostponed,  // given out, and given back to wait for what the scheduler does not know
  kFinished,   // successfully
  kFailed,
  kSkipped,  // an input failed or was skipped; never started
};

class Scheduler {
 public:
  // Preconditions: at least one thread and one share a GPU.
  explicit Scheduler(const Capacity& capacity);

  // Its inputs were added before; each is named once. It is skipped at once if one of them failed or was skipped.
  // Preconditions: it was not added before; there is a GPU if it wants a share of one.
  void Add(ActionId action, const Demand& demand, const Priority& priority, absl::Span<const ActionId> inputs);

  struct Start {
    ActionId action;
    int gpu = -1;  // ordinal; -1: runs on none
  };
  // The first by priority of the ready actions that fit in what is free; it runs from now on. Nothing if none fits: a
  // seat is never left empty while a ready action fits in it.
  std::optional<Start> Next();

  // Gives a running action all free threads, unless another one is ready: nothing else could use them now. Returns
  // their number; they are free again with its seat.
  int Widen(ActionId action);

  // How a running or postponed action ended. Its seat is free again.
  void Finished(ActionId action);
  // Returns the actions that are skipped for it: those that depend on it, directly or not, and were not skipped before.
  std::vector<ActionId> Failed(ActionId action);
  // It was not started, or stopped before its end, through no fault of its own: it is ready again.
  void Cancelled(ActionId action);
  // The GPU that a running action is on is used for no other any more; what runs there may go on.
  void CloseGpuOf(ActionId action);

  // A running action leaves its seat; it is ready again when Resumed().
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
    int first_edge = kNone;  // of the list of those that depend on it
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
    // Whether the other one starts first.
    bool operator<(const Candidate& other) const {
      return std::tuple(priority.stage, priority.work, other.action) <
             std::tuple(other.priority.stage, other.priority.work, action);
    }
  };
  // The ready actions that want the same.
  struct Queue {
    Demand demand;
    std::priority_queue<Candidate> ready;
  };

  int DemandIndex(Demand demand);
  bool Fits(const Demand& demand) const;
  void TakeSeat(Node* node);
  void LeaveSeat(ActionId action);
  // Of a running or postponed action.
  void End(ActionId action, ScheduleState state);
  void MakeReady(ActionId action);
  Node& NodeOf(ActionId action) { return nodes_[static_cast<size_t>(action)]; }

  const Capacity capacity_;
  int free_threads_;
  int64_t free_memory_mb_;
  std::vector<int> free_shares_;              // of each GPU
  std::vector<bool> is_closed_;               // of each GPU
  std::set<std::pair<int, int>> freest_gpu_;  // {-free shares, index}, of those that are open
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
