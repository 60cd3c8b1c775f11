#include "experiments/engine/scheduler.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

class NumberedScheduler : public Scheduler {
 public:
  using Scheduler::Scheduler;

  ActionId Add(const Demand& demand, const Priority& priority, const std::vector<ActionId>& inputs) {
    const ActionId id{size_++};
    Scheduler::Add(id, demand, priority, inputs);
    return id;
  }
  int size() const { return size_; }

 private:
  int size_ = 0;
};

constexpr Demand kThread = {.cpu_threads = 1};

Capacity Threads(int threads) {
  Capacity capacity;
  capacity.cpu_threads = threads;
  return capacity;
}

// Starts everything that can start.
std::vector<ActionId> StartAll(Scheduler* scheduler) {
  std::vector<ActionId> started;
  while (const auto start = scheduler->Next()) started.push_back(start->action);
  return started;
}

// Returns the order in which a single thread runs everything.
std::vector<ActionId> Order(Scheduler* scheduler) {
  std::vector<ActionId> order;
  while (const auto start = scheduler->Next()) {
    order.push_back(start->action);
    scheduler->Finished(start->action);
  }
  return order;
}

TEST(SchedulerTest, NothingToDo) {
  NumberedScheduler scheduler(Threads(2));
  EXPECT_FALSE(scheduler.Next().has_value());
  EXPECT_EQ(scheduler.running(), 0);
}

TEST(SchedulerTest, InputsFirst) {
  NumberedScheduler scheduler(Threads(8));
  const ActionId a = scheduler.Add(kThread, {}, {});
  const ActionId b = scheduler.Add(kThread, {}, {});
  const ActionId c = scheduler.Add(kThread, {}, {a, b});
  EXPECT_THAT(StartAll(&scheduler), ElementsAre(a, b));
  scheduler.Finished(b);
  EXPECT_THAT(StartAll(&scheduler), IsEmpty());
  EXPECT_EQ(scheduler.state(c), ScheduleState::kWaiting);
  scheduler.Finished(a);
  EXPECT_THAT(StartAll(&scheduler), ElementsAre(c));
  EXPECT_EQ(scheduler.running(), 1);
}

TEST(SchedulerTest, LaterStagesThenMoreWorkThenSmallerIds) {
  NumberedScheduler scheduler(Threads(1));
  scheduler.Add(kThread, {.stage = 0, .work = 5}, {});
  scheduler.Add(kThread, {.stage = 0, .work = 9}, {});
  scheduler.Add(kThread, {.stage = 0, .work = 5}, {});
  scheduler.Add(kThread, {.stage = 1, .work = 1}, {ActionId{0}});
  scheduler.Add(kThread, {.stage = 2, .work = 0}, {ActionId{3}});
  EXPECT_THAT(Order(&scheduler), ElementsAre(ActionId{1}, ActionId{0}, ActionId{3}, ActionId{4}, ActionId{2}));
}

TEST(SchedulerTest, AFailureSkipsExactlyItsDependents) {
  NumberedScheduler scheduler(Threads(2));
  const ActionId a = scheduler.Add(kThread, {}, {});
  const ActionId b = scheduler.Add(kThread, {}, {});
  const ActionId of_a = scheduler.Add(kThread, {}, {a});
  const ActionId of_b = scheduler.Add(kThread, {}, {b});
  const ActionId of_both = scheduler.Add(kThread, {}, {of_a, of_b});
  const ActionId behind = scheduler.Add(kThread, {}, {of_both});
  StartAll(&scheduler);
  EXPECT_THAT(scheduler.Failed(a), UnorderedElementsAre(of_a, of_both, behind));
  scheduler.Finished(b);
  EXPECT_THAT(StartAll(&scheduler), ElementsAre(of_b));
  // Nodes that have been skipped are not skipped again.
  EXPECT_THAT(scheduler.Failed(of_b), IsEmpty());
  EXPECT_EQ(scheduler.state(a), ScheduleState::kFailed);
  EXPECT_EQ(scheduler.state(of_both), ScheduleState::kSkipped);
  EXPECT_FALSE(scheduler.Next().has_value());
}

TEST(SchedulerTest, ACancelledNodeIsReadyAgainAndItsSeatFree) {
  NumberedScheduler scheduler(Threads(1));
  const ActionId a = scheduler.Add(kThread, {.work = 2}, {});
  const ActionId b = scheduler.Add(kThread, {.work = 1}, {a});
  StartAll(&scheduler);
  scheduler.Cancelled(a);
  EXPECT_EQ(scheduler.state(a), ScheduleState::kReady);
  EXPECT_EQ(scheduler.running(), 0);
  EXPECT_THAT(Order(&scheduler), ElementsAre(a, b));
}

TEST(SchedulerTest, NodesMayComeWhileOthersRun) {
  NumberedScheduler scheduler(Threads(1));
  const ActionId a = scheduler.Add(kThread, {}, {});
  const ActionId b = scheduler.Add(kThread, {}, {});
  StartAll(&scheduler);
  scheduler.Finished(a);
  EXPECT_THAT(StartAll(&scheduler), ElementsAre(b));
  EXPECT_THAT(scheduler.Failed(b), IsEmpty());
  const ActionId of_a = scheduler.Add(kThread, {}, {a});
  const ActionId of_b = scheduler.Add(kThread, {}, {a, b});
  const ActionId behind = scheduler.Add(kThread, {}, {of_b});
  EXPECT_EQ(scheduler.state(of_a), ScheduleState::kReady);
  EXPECT_EQ(scheduler.state(of_b), ScheduleState::kSkipped);
  EXPECT_EQ(scheduler.state(behind), ScheduleState::kSkipped);
  EXPECT_THAT(Order(&scheduler), ElementsAre(of_a));
}

TEST(SchedulerTest, ThreadsAreShared) {
  NumberedScheduler scheduler(Threads(4));
  const ActionId wide = scheduler.Add({.cpu_threads = 3}, {.work = 9}, {});
  const ActionId too_wide = scheduler.Add({.cpu_threads = 64}, {.work = 8}, {});
  const ActionId two = scheduler.Add({.cpu_threads = 2}, {.work = 7}, {});
  const ActionId one = scheduler.Add({.cpu_threads = 1}, {.work = 6}, {});
  // A node that does not fit is passed over for one that does.
  EXPECT_THAT(StartAll(&scheduler), ElementsAre(wide, one));
  scheduler.Finished(one);
  EXPECT_THAT(StartAll(&scheduler), IsEmpty());
  // A demand above the capacity counts as the whole capacity.
  scheduler.Finished(wide);
  EXPECT_THAT(StartAll(&scheduler), ElementsAre(too_wide));
  scheduler.Finished(too_wide);
  EXPECT_THAT(StartAll(&scheduler), ElementsAre(two));
}

TEST(SchedulerTest, MemoryIsSharedOrNotCounted) {
  const auto started_of_three = [](int64_t memory_mb) {
    Capacity capacity = Threads(3);
    capacity.memory_mb = memory_mb;
    NumberedScheduler scheduler(capacity);
    for (int i = 0; i < 3; ++i) scheduler.Add({.cpu_threads = 1, .memory_mb = 400}, {}, {});
    return StartAll(&scheduler).size();
  };
  EXPECT_EQ(started_of_three(1200), 3);
  EXPECT_EQ(started_of_three(1199), 2);
  EXPECT_EQ(started_of_three(100), 1);
  EXPECT_EQ(started_of_three(0), 3);
}

TEST(SchedulerTest, AChainOfAMillionIsSkippedAtOnce) {
  NumberedScheduler scheduler(Threads(1));
  const ActionId first = scheduler.Add(kThread, {}, {});
  for (ActionId last = first; scheduler.size() < 1000000;) last = scheduler.Add(kThread, {}, {last});
  EXPECT_THAT(StartAll(&scheduler), ElementsAre(first));
  EXPECT_EQ(scheduler.Failed(first).size(), 999999);
}

TEST(SchedulerDeathTest, EventsOfNodesThatDoNotRunAreBugs) {
  NumberedScheduler scheduler(Threads(1));
  const ActionId first = scheduler.Add(kThread, {}, {});
  EXPECT_DEATH(scheduler.Finished(first), "action 0 does not run");
  scheduler.Next();
  scheduler.Finished(first);
  EXPECT_DEATH(scheduler.Failed(first), "action 0 does not run");
  EXPECT_DEATH(scheduler.Add({.gpu_shares = 1}, {}, {}), "no GPU to share");
  EXPECT_DEATH(scheduler.Add(kThread, {}, {ActionId{1}}), "inputs come first");
  EXPECT_DEATH(scheduler.Scheduler::Add(first, kThread, {}, {}), "added twice");
}

// Runs random graphs on a random machine and checks the invariants with simple code.

struct RandomNode {
  Demand demand;
  Priority priority;
  std::vector<int> inputs;
};

std::vector<RandomNode> RandomGraph(int size, uint64_t seed) {
  RandomStream random(seed, "graph");
  std::vector<RandomNode> graph(size);
  for (int n = 0; n < size; ++n) {
    RandomNode& node = graph[n];
    if (random.Below(4) == 0) {
      node.demand = {.cpu_threads = 0, .gpu_shares = static_cast<int>(1 + random.Below(3))};
    } else {
      node.demand = {.cpu_threads = static_cast<int>(1 + random.Below(4))};
    }
    node.demand.memory_mb = 100 * static_cast<int64_t>(random.Below(3));
    node.priority = {static_cast<int>(random.Below(3)), static_cast<int64_t>(random.Below(50))};
    for (uint64_t inputs = random.Below(4); n > 0 && inputs > 0; --inputs) {
      // Half of them are near, half anywhere.
      const int reach = random.Below(2) == 0 ? std::min(n, 100) : n;
      const int input = n - 1 - static_cast<int>(random.Below(reach));
      if (std::count(node.inputs.begin(), node.inputs.end(), input) == 0) node.inputs.push_back(input);
    }
  }
  return graph;
}

const Capacity kMachine = [] {
  Capacity capacity = Threads(6);
  capacity.gpus = {0, 1, 5};
  capacity.shares_per_gpu = 2;
  capacity.memory_mb = 700;
  return capacity;
}();

Demand AtMostAll(const Demand& demand) {
  return {std::min(demand.cpu_threads, kMachine.cpu_threads), std::min(demand.gpu_shares, kMachine.shares_per_gpu),
          std::min(demand.memory_mb, kMachine.memory_mb)};
}

// Computes the free resources of kMachine from scratch.
struct Free {
  int threads = kMachine.cpu_threads;
  int64_t memory_mb = kMachine.memory_mb;
  std::vector<int> shares = std::vector<int>(6, kMachine.shares_per_gpu);  // by ordinal; 2 to 4 do not exist

  bool Fits(const Demand& demand) const {
    return demand.cpu_threads <= threads && demand.memory_mb <= memory_mb &&
           (demand.gpu_shares <= shares[0] || demand.gpu_shares <= shares[1] || demand.gpu_shares <= shares[5]);
  }
  void Take(const Demand& demand, int gpu, int sign) {
    threads -= sign * demand.cpu_threads;
    memory_mb -= sign * demand.memory_mb;
    if (gpu >= 0) shares[gpu] -= sign * demand.gpu_shares;
  }
};

// Runs the graph: running nodes end in random order, and some fail or are cancelled. If `exhaustive`, compares each
// start with the best one among all nodes.
void RunRandomly(const std::vector<RandomNode>& graph, uint64_t seed, bool exhaustive) {
  const int size = static_cast<int>(graph.size());
  RandomStream random(seed, "events");
  NumberedScheduler scheduler(kMachine);
  for (const RandomNode& node : graph) {
    std::vector<ActionId> inputs;
    for (const int input : node.inputs) inputs.push_back(ActionId{input});
    scheduler.Add(node.demand, node.priority, inputs);
  }
  Free free;
  struct Run {
    int node, gpu;
  };
  std::vector<Run> running;
  std::vector<char> owned(size), finished(size), failed(size), skipped(size);

  const auto best = [&] {
    int found = -1;
    for (int n = 0; n < size; ++n) {
      const auto is_finished = [&](int input) { return finished[input] != 0; };
      if (owned[n] || finished[n] || failed[n] || skipped[n] || !free.Fits(AtMostAll(graph[n].demand)) ||
          !std::all_of(graph[n].inputs.begin(), graph[n].inputs.end(), is_finished)) {
        continue;
      }
      const auto rank = [&](int node) { return std::pair(graph[node].priority.stage, graph[node].priority.work); };
      if (found < 0 || rank(n) > rank(found)) found = n;
    }
    return found;
  };

  while (true) {
    while (true) {
      const int expected = exhaustive ? best() : -1;
      const auto start = scheduler.Next();
      if (exhaustive) {
        ASSERT_EQ(start.has_value() ? static_cast<int>(start->action) : -1, expected);
      }
      if (!start.has_value()) break;
      const int n = static_cast<int>(start->action);
      ASSERT_FALSE(owned[n] || finished[n] || failed[n] || skipped[n]) << "a second owner of " << n;
      owned[n] = true;
      for (const int input : graph[n].inputs) ASSERT_TRUE(finished[input]) << n << " before its input " << input;
      const Demand demand = AtMostAll(graph[n].demand);
      ASSERT_EQ(start->gpu >= 0, demand.gpu_shares > 0);
      free.Take(demand, start->gpu, 1);
      ASSERT_GE(free.threads, 0);
      ASSERT_GE(free.memory_mb, 0);
      if (start->gpu >= 0) {
        ASSERT_GE(free.shares.at(start->gpu), 0);
      }
      running.push_back({n, start->gpu});
    }
    ASSERT_EQ(scheduler.running(), running.size());
    if (running.empty()) break;
    std::swap(running[random.Below(running.size())], running.back());
    const Run ended = running.back();
    running.pop_back();
    free.Take(AtMostAll(graph[ended.node].demand), ended.gpu, -1);
    owned[ended.node] = false;
    const uint64_t fate = random.Below(1000);
    if (fate < 2) {
      failed[ended.node] = true;
      for (const ActionId id : scheduler.Failed(ActionId{ended.node})) {
        const int n = static_cast<int>(id);
        ASSERT_FALSE(skipped[n]) << n << " is skipped twice";
        skipped[n] = true;
      }
    } else if (fate < 20) {
      scheduler.Cancelled(ActionId{ended.node});
    } else {
      finished[ended.node] = true;
      scheduler.Finished(ActionId{ended.node});
    }
  }
  // All reachable nodes are done; exactly the nodes that depend on a failure are skipped.
  for (int n = 0; n < size; ++n) {
    const auto is_lost = [&](int input) { return failed[input] || skipped[input]; };
    const bool lost = std::any_of(graph[n].inputs.begin(), graph[n].inputs.end(), is_lost);
    ASSERT_EQ(skipped[n] != 0, lost) << n;
    ASSERT_EQ(finished[n] || failed[n], !lost) << n;
    ASSERT_EQ(scheduler.state(ActionId{n}), finished[n] ? ScheduleState::kFinished
                                            : lost      ? ScheduleState::kSkipped
                                                        : ScheduleState::kFailed);
  }
  EXPECT_EQ(free.threads, kMachine.cpu_threads);
}

TEST(SchedulerTest, StartsTheFirstThatFitsOnSmallRandomGraphs) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RunRandomly(RandomGraph(60, seed), seed, /*exhaustive=*/true);
    if (HasFatalFailure()) return;
  }
}

TEST(SchedulerTest, KeepsItsInvariantsOnARandomGraphOfAMillionNodes) {
  RunRandomly(RandomGraph(1000000, 1), 1, /*exhaustive=*/false);
}

TEST(Scheduler, ARunningNodeCanGetUnusedThreads) {
  NumberedScheduler scheduler(Threads(4));
  const ActionId first = scheduler.Add({1}, {}, {});
  const ActionId second = scheduler.Add({1}, {}, {});
  ASSERT_EQ(scheduler.Next()->action, first);
  EXPECT_EQ(scheduler.Widen(first), 0);  // the other one is ready
  ASSERT_EQ(scheduler.Next()->action, second);
  EXPECT_EQ(scheduler.Widen(second), 2);
  const ActionId third = scheduler.Add({2}, {}, {});
  EXPECT_FALSE(scheduler.Next().has_value());
  scheduler.Finished(second);
  ASSERT_EQ(scheduler.Next()->action, third);
  EXPECT_EQ(scheduler.Widen(third), 1);
}

TEST(Scheduler, APostponedNodeLeavesItsSeatAndComesBackWhenResumed) {
  NumberedScheduler scheduler(Capacity{});
  const ActionId first = scheduler.Add({1}, {0, 2}, {});
  const ActionId second = scheduler.Add({1}, {0, 1}, {first});
  const ActionId third = scheduler.Add({1}, {0, 1}, {});
  ASSERT_EQ(scheduler.Next()->action, first);
  scheduler.Postponed(first);
  EXPECT_EQ(scheduler.running(), 0);
  EXPECT_EQ(scheduler.postponed(), 1);
  EXPECT_EQ(scheduler.state(first), ScheduleState::kPostponed);
  ASSERT_EQ(scheduler.Next()->action, third);
  scheduler.Finished(third);
  EXPECT_FALSE(scheduler.Next().has_value());
  scheduler.Resumed(first);
  EXPECT_EQ(scheduler.postponed(), 0);
  ASSERT_EQ(scheduler.Next()->action, first);
  // A node may also end while it is postponed.
  scheduler.Postponed(first);
  scheduler.Finished(first);
  EXPECT_EQ(scheduler.postponed(), 0);
  ASSERT_EQ(scheduler.Next()->action, second);
  scheduler.Postponed(second);
  EXPECT_TRUE(scheduler.Failed(second).empty());
  EXPECT_EQ(scheduler.state(second), ScheduleState::kFailed);
  EXPECT_EQ(scheduler.running(), 0);
}

// Tests which GPU a node gets.

TEST(SchedulerGpuTest, SharesAreOnOneGpuTheFreestFirst) {
  Capacity capacity;
  capacity.gpus = {4, 7};
  capacity.shares_per_gpu = 2;
  NumberedScheduler scheduler(capacity);
  for (int i = 0; i < 3; ++i) scheduler.Add({.gpu_shares = 1}, {.work = 9 - i}, {});
  const ActionId whole = scheduler.Add({.gpu_shares = 5}, {.work = 1}, {});
  EXPECT_EQ(scheduler.Next()->gpu, 4);
  EXPECT_EQ(scheduler.Next()->gpu, 7);
  EXPECT_EQ(scheduler.Next()->gpu, 4);
  EXPECT_FALSE(scheduler.Next().has_value());  // one share is left
  scheduler.Finished(ActionId{1});
  const auto start = scheduler.Next();
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->action, whole);
  EXPECT_EQ(start->gpu, 7);
  // A node on the CPU needs no share.
  scheduler.Add({.cpu_threads = 1}, {}, {});
  EXPECT_EQ(scheduler.Next()->gpu, -1);
}

TEST(SchedulerGpuTest, AClosedGpuTakesNoOtherNode) {
  Capacity capacity;
  capacity.gpus = {4, 7};
  capacity.shares_per_gpu = 2;
  NumberedScheduler scheduler(capacity);
  std::vector<ActionId> nodes;
  for (int i = 0; i < 6; ++i) nodes.push_back(scheduler.Add({.gpu_shares = 1}, {.work = 9 - i}, {}));
  EXPECT_EQ(scheduler.Next()->gpu, 4);
  EXPECT_EQ(scheduler.Next()->gpu, 7);
  scheduler.CloseGpuOf(nodes[0]);
  EXPECT_EQ(scheduler.Next()->gpu, 7);
  EXPECT_FALSE(scheduler.Next().has_value()) << "GPU 4 has a share left";
  // The node there ends, and nothing replaces it.
  scheduler.Finished(nodes[0]);
  EXPECT_FALSE(scheduler.Next().has_value());
  scheduler.CloseGpuOf(nodes[2]);
  scheduler.Cancelled(nodes[2]);
  scheduler.Finished(nodes[1]);
  EXPECT_FALSE(scheduler.Next().has_value());
  EXPECT_EQ(scheduler.running(), 0);
  EXPECT_EQ(scheduler.ready(), 4);
  // CPUs are unaffected.
  scheduler.Add({.cpu_threads = 1}, {}, {});
  EXPECT_EQ(scheduler.Next()->gpu, -1);
}

}  // namespace

}  // namespace openset
