#include "experiments/engine/node_action.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/process/machine.h"
#include "experiments/spec/describe.h"

namespace openset {
namespace {

bool IsInStore(ActionKind kind, const std::string& key, const Store& store) {
  switch (kind) {
    case ActionKind::kTrain:
      return store.HasCheckpoint(key);
    case ActionKind::kInfer:
      return store.HasOutputs(key);
    case ActionKind::kEvaluate:
      return store.HasRecord(key);
    case ActionKind::kChoose:
      return false;
  }
  return false;
}

}  // namespace

Demand DemandOf(const Plan& plan, const PlanNode& node, const ActionMemory& memory) {
  Demand demand;
  switch (node.kind) {
    case ActionKind::kTrain:
      demand.memory_mb = memory.train_mb();
      break;
    case ActionKind::kInfer:
      demand.memory_mb = memory.infer_mb();
      break;
    case ActionKind::kEvaluate:
      demand.memory_mb = memory.evaluate_mb();
      demand.cpu_threads = 1;
      return demand;
    case ActionKind::kChoose:
      return demand;
  }
  const ExecutionSpec& execution = plan.TrialOf(node).execution();
  if (execution.device() == ExecutionSpec::CUDA) {
    demand.gpu_shares = 1;
  } else {
    demand.cpu_threads = execution.threads();
  }
  return demand;
}

std::vector<std::string> KeysOf(const Plan& plan, const PlanNode& node) {
  std::vector<std::string> keys = {node.key};
  for (const int other : node.together) keys.push_back(plan.nodes[other].key);
  return keys;
}

bool CanUseMoreCpus(ActionKind kind, int threads) {
  return (kind == ActionKind::kInfer && threads == 1) || kind == ActionKind::kEvaluate;
}

bool IsInStore(const Plan& plan, const PlanNode& node, const Store& store) {
  const std::vector<std::string> keys = KeysOf(plan, node);
  return std::all_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return IsInStore(node.kind, key, store); });
}

WorkRequest RequestOf(const Plan& plan, const PlanNode& node) {
  WorkRequest request;
  request.set_key(node.key);
  switch (node.kind) {
    case ActionKind::kTrain:
      *request.mutable_train() = plan.TrainActionOf(node);
      if (node.continued >= 0) request.set_continued_key(plan.nodes[node.continued].key);
      break;
    case ActionKind::kInfer:
      *request.mutable_infer() = plan.InferActionOf(node);
      for (const int other : node.together) {
        KeyedInferAction* passenger = request.add_infer_together();
        passenger->set_key(plan.nodes[other].key);
        *passenger->mutable_action() = plan.InferActionOf(plan.nodes[other]);
      }
      break;
    case ActionKind::kEvaluate:
      *request.mutable_evaluate() = plan.TrialOf(node).Spec();
      break;
    case ActionKind::kChoose:
      break;
  }
  return request;
}

std::vector<int> NeededNodes(const Plan& plan) {
  std::vector<int> needed;
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    if (plan.nodes[n].needed) needed.push_back(static_cast<int>(n));
  }
  return needed;
}

void AddWork(const Plan& plan, const std::vector<int>& needed, std::vector<int64_t>* work) {
  work->resize(plan.nodes.size());
  for (auto n = needed.rbegin(); n != needed.rend(); ++n) {
    int64_t& longest = (*work)[*n];  // of the ways behind it
    longest += plan.nodes[*n].work;
    for (const int input : plan.nodes[*n].inputs) (*work)[input] = std::max((*work)[input], longest);
  }
}

absl::Status StatusOf(const FailureRecord& failure) {
  return absl::Status(static_cast<absl::StatusCode>(failure.code()), failure.message());
}

absl::Status SomeFailed(int failed, const std::string& rest) {
  if (failed == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(failed, failed == 1 ? " action" : " actions", " failed", rest));
}

absl::Status NoGpuIsLeft(const absl::Status& why) {
  return absl::UnavailableError(absl::StrCat("no GPU is left for what still has to run: ", why.message(),
                                             "; the same command continues once one is free"));
}

FailureRecord FailureOf(const Plan& plan, const PlanNode& node, const absl::Status& status) {
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_kind(KindName(node.kind));
  failure.set_key(node.key);
  failure.set_description(Describe(plan.TrialOf(node)));
  failure.set_message(std::string(status.message()));
  failure.set_failed_at_seconds(absl::ToUnixSeconds(absl::Now()));
  failure.set_code(static_cast<int>(status.code()));
  failure.set_host(HostName());
  failure.set_user_id(UserId());
  failure.set_user_name(UserName());
  return failure;
}

}  // namespace openset
