#include "experiments/engine/execute_plan.h"

#include <string.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/process/interrupt.h"
#include "core/status_macros.h"
#include "experiments/engine/scheduler.h"
#include "experiments/spec/describe.h"

namespace openset {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);

class Execution {
 public:
  Execution(const Plan& plan, const Store& store, const ActionMemory& memory, Engine* engine, EngineObserver* observer)
      : plan_(plan),
        store_(store),
        memory_(memory),
        engine_(engine),
        observer_(observer),
        scheduler_(engine->capacity()) {}

  absl::Status Run() {
    OPENSET_RETURN_IF_ERROR(AddNodes());
    Interrupt interrupt;
    while (true) {
      StartWhatCan();
      if (scheduler_.running() == 0) break;
      for (const EngineEvent& event : engine_->Wait(interrupt.fd(), kTick)) Handle(event);
      if (const int signal = interrupt.Take(); signal != 0) {
        Stop();
        return absl::CancelledError(absl::StrCat("stopped by ", strsignal(signal)));
      }
      observer_->OnTick();
    }
    OPENSET_RETURN_IF_ERROR(start_failure_);
    if (failed_ == 0) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat(failed_, failed_ == 1 ? " action" : " actions", " failed"));
  }

 private:
  // Gives the scheduler what is needed. Passengers are part of the node that they are done together with.
  absl::Status AddNodes() {
    const std::vector<int64_t> work = WorkToTheEnd();
    std::vector<int> numbers(plan_.nodes.size(), -1);  // of plan nodes in the scheduler
    for (int n = 0; n < plan_.nodes.size(); ++n) {
      const PlanNode& node = plan_.nodes[n];
      if (!node.needed || node.is_passenger || node.kind == ActionKind::kChoose) continue;
      const Demand demand = DemandOf(node);
      if (demand.gpu_shares > 0 && engine_->capacity().gpus.empty()) {
        return absl::FailedPreconditionError(
            absl::StrCat(Describe(plan_.TrialOf(node)), " runs on a GPU: give one, --devices=cuda:0"));
      }
      std::vector<int> inputs;
      for (const int input : node.inputs) {
        if (!plan_.nodes[input].done) inputs.push_back(numbers[input]);
      }
      numbers[n] = scheduler_.Add(demand, {static_cast<int>(node.kind), work[n]}, inputs);
      for (const int passenger : node.together) numbers[passenger] = numbers[n];
      nodes_.push_back(n);
    }
    return absl::OkStatus();
  }

  // Of each node: its work and that of the longest way from it to a record.
  std::vector<int64_t> WorkToTheEnd() const {
    std::vector<int64_t> work(plan_.nodes.size());
    for (int n = static_cast<int>(plan_.nodes.size()) - 1; n >= 0; --n) {
      work[n] += plan_.nodes[n].work;  // to that of the longest way behind it
      for (const int input : plan_.nodes[n].inputs) work[input] = std::max(work[input], work[n]);
    }
    return work;
  }

  Demand DemandOf(const PlanNode& node) const {
    Demand demand;
    switch (node.kind) {
      case ActionKind::kTrain:
        demand.memory_mb = memory_.train_mb();
        break;
      case ActionKind::kInfer:
        demand.memory_mb = memory_.infer_mb();
        break;
      case ActionKind::kEvaluate:
        demand.memory_mb = memory_.evaluate_mb();
        demand.cpu_threads = 1;
        return demand;
      case ActionKind::kChoose:
        return demand;
    }
    const ExecutionSpec& execution = plan_.TrialOf(node).execution();
    if (execution.device() == ExecutionSpec::CUDA) {
      demand.gpu_shares = 1;
    } else {
      demand.cpu_threads = execution.threads();
    }
    return demand;
  }

  WorkRequest RequestOf(const PlanNode& node) const {
    WorkRequest request;
    request.set_key(node.key);
    switch (node.kind) {
      case ActionKind::kTrain:
        *request.mutable_train() = plan_.TrainActionOf(node);
        break;
      case ActionKind::kInfer:
        *request.mutable_infer() = plan_.InferActionOf(node);
        for (const int other : node.together) {
          KeyedInferAction* passenger = request.add_infer_together();
          passenger->set_key(plan_.nodes[other].key);
          *passenger->mutable_action() = plan_.InferActionOf(plan_.nodes[other]);
        }
        break;
      case ActionKind::kEvaluate:
        *request.mutable_evaluate() = plan_.TrialOf(node).Spec();
        break;
      case ActionKind::kChoose:
        break;
    }
    return request;
  }

  // After a failure to start, nothing is started before something has ended.
  void StartWhatCan() {
    while (start_failure_.ok()) {
      const auto start = scheduler_.Next();
      if (!start.has_value()) return;
      const int n = nodes_[start->node];
      start_failure_ = engine_->Start(start->node, start->gpu, RequestOf(plan_.nodes[n]));
      if (start_failure_.ok()) {
        store_.MarkRunning(plan_.nodes[n].key);
        observer_->OnStart(n);
      } else {
        scheduler_.Cancelled(start->node);
        observer_->OnStartFailure(n, start_failure_);
      }
    }
  }

  void Handle(const EngineEvent& event) {
    const int n = nodes_[event.action];
    if (event.progress.has_value()) observer_->OnProgress(n, *event.progress);
    if (!event.end.has_value()) return;
    start_failure_ = absl::OkStatus();
    store_.UnmarkRunning(plan_.nodes[n].key);
    observer_->OnFinish(n, *event.end);
    if (event.end->ok()) {
      scheduler_.Finished(event.action);
      for (const int passenger : plan_.nodes[n].together) observer_->OnFinish(passenger, absl::OkStatus());
      return;
    }
    ++failed_;
    RecordFailure(plan_.nodes[n], event);
    for (const int passenger : plan_.nodes[n].together) observer_->OnSkip(passenger);
    for (const int skipped : scheduler_.Failed(event.action)) {
      observer_->OnSkip(nodes_[skipped]);
      for (const int passenger : plan_.nodes[nodes_[skipped]].together) observer_->OnSkip(passenger);
    }
  }

  void RecordFailure(const PlanNode& node, const EngineEvent& event) const {
    FailureRecord failure;
    failure.set_schema_version(kSchemaVersion);
    failure.set_kind(KindName(node.kind));
    failure.set_key(node.key);
    failure.set_description(Describe(plan_.TrialOf(node)));
    failure.set_message(std::string(event.end->message()));
    failure.set_log_tail(event.log_tail);
    failure.set_failed_at_seconds(absl::ToUnixSeconds(absl::Now()));
    // A store that can't be written to fails the next action too; this one's message has been shown.
    store_.WriteFailure(failure).IgnoreError();
  }

  void Stop() {
    engine_->KillAll();
    for (int s = 0; s < scheduler_.size(); ++s) {
      if (scheduler_.state(s) == NodeState::kRunning) store_.UnmarkRunning(plan_.nodes[nodes_[s]].key);
    }
  }

  const Plan& plan_;
  const Store& store_;
  const ActionMemory memory_;
  Engine* engine_;
  EngineObserver* observer_;
  Scheduler scheduler_;
  std::vector<int> nodes_;      // of the plan, by their numbers in the scheduler
  absl::Status start_failure_;  // OK: the last start did not fail, or something has ended since
  int failed_ = 0;
};

}  // namespace

absl::Status ExecutePlan(const Plan& plan, const Store& store, const ActionMemory& memory, Engine* engine,
                         EngineObserver* observer) {
  return Execution(plan, store, memory, engine, observer).Run();
}

}  // namespace openset
