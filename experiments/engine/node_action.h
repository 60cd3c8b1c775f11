// What an engine has to know of a node of a plan.
#ifndef OPENSET_EXPERIMENTS_ENGINE_NODE_ACTION_H_
#define OPENSET_EXPERIMENTS_ENGINE_NODE_ACTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/scheduler.h"
#include "experiments/plan/plan.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// An action on the CPU takes as many threads as its trial has, one on a GPU one share of it, an evaluation one thread;
// and the memory that its kind takes. A choice takes nothing.
Demand DemandOf(const Plan& plan, const PlanNode& node, const ActionMemory& memory);

// Whether an action of this kind, whose trial has so many threads, gives the same bits on any number of CPUs.
bool CanUseMoreCpus(ActionKind kind, int threads);

// Its keys, and those of the nodes that are done together with it.
std::vector<std::string> KeysOf(const Plan& plan, const PlanNode& node);

// Whether all that the node makes is in the store. Precondition: it is no choice.
bool IsInStore(const Plan& plan, const PlanNode& node, const Store& store);

// The request for a worker. Precondition: it is no choice.
WorkRequest RequestOf(const Plan& plan, const PlanNode& node);

// The needed ones, inputs first.
std::vector<int> NeededNodes(const Plan& plan);

// Of each of these nodes, inputs first: its work and that of the longest way from it to a record. By their numbers, in
// `work`, where nodes that they need may be already.
void AddWork(const Plan& plan, const std::vector<int>& needed, std::vector<int64_t>* work);

// Why an attempt failed.
absl::Status StatusOf(const FailureRecord& failure);

// What a run ends with in which so many actions failed: OK for none, else kAborted.
absl::Status SomeFailed(int failed, const std::string& rest = "");

// What a run ends with whose last GPU was lost, for this reason: kUnavailable.
absl::Status NoGpuIsLeft(const absl::Status& why);

// The record of an attempt at the node that failed now, on this machine.
FailureRecord FailureOf(const Plan& plan, const PlanNode& node, const absl::Status& status);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_NODE_ACTION_H_
