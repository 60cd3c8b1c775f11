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
  Execution(const Plan& plan, const MakeChoice& choose, const Store& store, const ActionMemory& memory, Engine* engine,
            EngineObserver* observer)
      : plan_(plan),
        choose_(choose),
        store_(store),
        memory_(memory),
        engine_(engine),
        observer_(observer),
        scheduler_(engine->capacity()) {}

  absl::Status Run() {
    std::vector<int> needed;
    for (int n = 0; n < plan_.nodes.size(); ++n) {
      if (plan_.nodes[n].needed) needed.push_back(n);
    }
    OPENSET_RETURN_IF_ERROR(AddNodes(needed));
    Interrupt interrupt;
    while (true) {
      OPENSET_RETURN_IF_ERROR(StartWhatCan());
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
  // Gives the scheduler these nodes, inputs first. Passengers are part of the node that they are done together with.
  absl::Status AddNodes(const std::vector<int>& needed) {
    AddWork(needed);
    numbers_.resize(plan_.nodes.size(), -1);
    for (const int n : needed) {
      const PlanNode& node = plan_.nodes[n];
      if (node.is_passenger) continue;
      const Demand demand = DemandOf(node);
      if (demand.gpu_shares > 0 && engine_->capacity().gpus.empty()) {
        return absl::FailedPreconditionError(
            absl::StrCat(Describe(plan_.TrialOf(node)), " runs on a GPU: give one, --devices=cuda:0"));
      }
      std::vector<int> inputs;
      for (const int input : node.inputs) {
        if (!plan_.nodes[input].done) inputs.push_back(numbers_[input]);
      }
      numbers_[n] = scheduler_.Add(demand, {static_cast<int>(node.kind), work_[n]}, inputs);
      for (const int passenger : node.together) numbers_[passenger] = numbers_[n];
      nodes_.push_back(n);
      if (scheduler_.state(numbers_[n]) == NodeState::kSkipped) Skip(n);
    }
    return absl::OkStatus();
  }

  // Of each of these nodes: its work and that of the longest way from it to a record.
  void AddWork(const std::vector<int>& needed) {
    work_.resize(plan_.nodes.size());
    for (auto n = needed.rbegin(); n != needed.rend(); ++n) {
      work_[*n] += plan_.nodes[*n].work;  // to that of the longest way behind it
      for (const int input : plan_.nodes[*n].inputs) work_[input] = std::max(work_[input], work_[*n]);
    }
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
  absl::Status StartWhatCan() {
    while (start_failure_.ok()) {
      const auto start = scheduler_.Next();
      if (!start.has_value()) break;
      const int n = nodes_[start->node];
      if (plan_.nodes[n].kind == ActionKind::kChoose) {
        OPENSET_RETURN_IF_ERROR(Choose(n, start->node));
        continue;
      }
      start_failure_ = engine_->Start(start->node, start->gpu, RequestOf(plan_.nodes[n]));
      if (start_failure_.ok()) {
        store_.MarkRunning(plan_.nodes[n].key);
        observer_->OnStart(n);
      } else {
        scheduler_.Cancelled(start->node);
        observer_->OnStartFailure(n, start_failure_);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Choose(int n, int number) {
    observer_->OnStart(n);
    const absl::StatusOr<std::vector<int>> added = choose_(n);
    if (!added.ok()) {
      Fail(n, number, added.status(), /*log_tail=*/"");
      return absl::OkStatus();
    }
    observer_->OnGrowth(*added);
    scheduler_.Finished(number);
    observer_->OnFinish(n, absl::OkStatus());
    return AddNodes(*added);
  }

  void Handle(const EngineEvent& event) {
    const int n = nodes_[event.action];
    if (event.progress.has_value()) observer_->OnProgress(n, *event.progress);
    if (!event.end.has_value()) return;
    start_failure_ = absl::OkStatus();
    store_.UnmarkRunning(plan_.nodes[n].key);
    if (!event.end->ok()) return Fail(n, event.action, *event.end, event.log_tail);
    observer_->OnFinish(n, *event.end);
    scheduler_.Finished(event.action);
    for (const int passenger : plan_.nodes[n].together) observer_->OnFinish(passenger, absl::OkStatus());
  }

  void Fail(int n, int number, const absl::Status& status, const std::string& log_tail) {
    observer_->OnFinish(n, status);
    ++failed_;
    RecordFailure(plan_.nodes[n], status, log_tail);
    for (const int passenger : plan_.nodes[n].together) observer_->OnSkip(passenger);
    for (const int skipped : scheduler_.Failed(number)) Skip(nodes_[skipped]);
  }

  void Skip(int n) {
    observer_->OnSkip(n);
    for (const int passenger : plan_.nodes[n].together) observer_->OnSkip(passenger);
  }

  void RecordFailure(const PlanNode& node, const absl::Status& status, const std::string& log_tail) const {
    FailureRecord failure;
    failure.set_schema_version(kSchemaVersion);
    failure.set_kind(KindName(node.kind));
    failure.set_key(node.key);
    failure.set_description(Describe(plan_.TrialOf(node)));
    failure.set_message(std::string(status.message()));
    failure.set_log_tail(log_tail);
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

  const Plan& plan_;  // grows by choices
  const MakeChoice& choose_;
  const Store& store_;
  const ActionMemory memory_;
  Engine* engine_;
  EngineObserver* observer_;
  Scheduler scheduler_;
  std::vector<int> nodes_;      // of the plan, by their numbers in the scheduler
  std::vector<int> numbers_;    // and the other way round; -1: not there
  std::vector<int64_t> work_;   // of the plan's nodes, AddWork()
  absl::Status start_failure_;  // OK: the last start did not fail, or something has ended since
  int failed_ = 0;
};

}  // namespace

absl::Status ExecutePlan(const Plan& plan, const MakeChoice& choose, const Store& store, const ActionMemory& memory,
                         Engine* engine, EngineObserver* observer) {
  return Execution(plan, choose, store, memory, engine, observer).Run();
}

}  // namespace openset
