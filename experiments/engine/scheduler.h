// Which action starts next, and on which seat. Pure: it knows no processes, no clock and no plan. What happened is told
// to it, what to start is asked of it.
//
// The life of a scheduler:
//   1. Add() the nodes of the graph, inputs first. More may come at any time.
//   2. Start what Next() gives, until it gives nothing.
//   3. When a node that was started ends, say how: Finished(), Failed() or Cancelled(); or Postponed(), if it has to
//      wait for something else, and later Resumed(), Finished() or Failed(). Back to 2.
// It is over when Next() gives nothing and running() and postponed() are 0. Every node has then finished, failed or
// been skipped, unless its engine could not start it (Cancelled) or no GPU is open any more for it: of these some are
// ready().
//
// Time: O(log n + d) for Next() and for each start's end, amortised over the graph's edges; d is the number of
// different demands, a handful. Memory: about 50 bytes a node, 8 an edge.
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

// What a node occupies while it runs. More than there is counts as all there is: such a node runs when nothing else
// needs any of it. Shares are those of one GPU.
struct Demand {
  int cpu_threads = 0;
  int gpu_shares = 0;
  int64_t memory_mb = 0;
};

// Of two nodes that could start, the one of the later stage does (so that what has begun completes), then the one with
// more work (so that no long one is left for the end), then the one added first.
struct Priority {
  int stage = 0;
  int64_t work = 0;  // in any unit
};

enum class NodeState {
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

  // The new node's number: 0, 1, 2, ... Its inputs are numbers given before, each once. It is skipped at once if one of
  // them failed or was skipped. Precondition: there is a GPU if it wants a share of one.
  int Add(const Demand& demand, const Priority& priority, absl::Span<const int> inputs);

  struct Start {
    int node;
    int gpu = -1;  // ordinal; -1: runs on none
  };
  // The first by priority of the ready nodes that fit in what is free; it runs from now on. Nothing if none fits: a
  // seat is never left empty while a ready node fits in it.
  std::optional<Start> Next();

  // Gives a running node all free threads, unless another node is ready: nothing else could use them now. Returns their
  // number; they are free again with its seat.
  int Widen(int node);

  // How a running or postponed node ended. Its seat is free again.
  void Finished(int node);
  // Returns the nodes that are skipped for it: those that depend on it, directly or not, and were not skipped before.
  std::vector<int> Failed(int node);
  // It was not started, or stopped before its end, through no fault of its own: it is ready again.
  void Cancelled(int node);
  // The GPU that a running node is on is used for no other any more; what runs there may go on.
  void CloseGpuOf(int node);

  // A running node leaves its seat; it is ready again when Resumed().
  void Postponed(int node);
  void Resumed(int node);

  int size() const { return static_cast<int>(nodes_.size()); }
  int running() const { return running_; }
  int ready() const { return ready_; }
  int postponed() const { return postponed_; }
  NodeState state(int node) const { return nodes_[node].state; }

 private:
  static constexpr int kNone = -1;

  struct Node {
    Priority priority;
    int demand;  // index in demands_
    int missing_inputs = 0;
    int first_edge = kNone;  // of the list of those that depend on it
    int gpu = kNone;         // index in capacity_.gpus, while it runs on one
    int more_threads = 0;    // Widen()
    NodeState state = NodeState::kWaiting;
  };
  struct Edge {
    int to;
    int next;
  };
  struct Candidate {
    Priority priority;
    int node;
    // Whether the other one starts first.
    bool operator<(const Candidate& other) const {
      return std::tuple(priority.stage, priority.work, -node) <
             std::tuple(other.priority.stage, other.priority.work, -other.node);
    }
  };
  // The ready nodes that want the same.
  struct Queue {
    Demand demand;
    std::priority_queue<Candidate> ready;
  };

  int DemandIndex(Demand demand);
  bool Fits(const Demand& demand) const;
  void TakeSeat(Node* node);
  void LeaveSeat(int node);
  // Of a running or postponed node.
  void End(int node, NodeState state);
  void MakeReady(int node);

  const Capacity capacity_;
  int free_threads_;
  int64_t free_memory_mb_;
  std::vector<int> free_shares_;              // of each GPU
  std::vector<bool> is_closed_;               // of each GPU
  std::set<std::pair<int, int>> freest_gpu_;  // {-free shares, index}, of those that are open
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Queue> demands_;
  std::map<std::tuple<int, int, int64_t>, int> demand_index_;
  int running_ = 0;
  int postponed_ = 0;
  int ready_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SCHEDULER_H_
