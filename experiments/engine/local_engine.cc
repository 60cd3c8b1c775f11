#include "experiments/engine/local_engine.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "core/files/files.h"
#include "core/process/interrupt.h"
#include "core/process/message_channel.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"
#include "experiments/spec/describe.h"

namespace openset {
namespace {

constexpr int kTickMilliseconds = 200;
constexpr int kLogTailLines = 20;

// What an action occupies while it runs.
struct Seat {
  int cpu_slots = 0;
  std::optional<int> cuda_device;
};

struct Worker {
  bool trainer;
  std::unique_ptr<Subprocess> process;
  std::string log;
  int node = -1;  // -1: idle
  Seat seat;
  std::uintmax_t log_start = 0;  // size of the log when the action began
};

const ExecutionSpec& ExecutionOf(const PlanNode& node) {
  const InferAction& infer = node.kind == ActionKind::kEvaluate ? node.evaluate.test() : node.infer;
  return node.kind == ActionKind::kTrain ? node.train.execution() : infer.train(0).execution();
}

std::string LogTail(const Worker& worker) {
  const absl::StatusOr<std::string> log = ReadFile(worker.log);
  if (!log.ok()) return "";
  std::vector<std::string> lines =
      absl::StrSplit(log->substr(std::min<size_t>(log->size(), worker.log_start)), '\n', absl::SkipEmpty());
  if (lines.size() > kLogTailLines) lines.erase(lines.begin(), lines.end() - kLogTailLines);
  return absl::StrJoin(lines, "\n");
}

class LocalEngine {
 public:
  LocalEngine(const Plan& plan, const Store& store, const LocalEngineOptions& options, EngineObserver* observer)
      : plan_(plan),
        store_(store),
        options_(options),
        observer_(observer),
        free_slots_(options.cpu_slots),
        free_devices_(options.cuda_devices.begin(), options.cuda_devices.end()) {
    for (int n = 0; n < plan_.nodes.size(); ++n) {
      if (plan_.nodes[n].needed) waiting_.insert(n);
    }
  }

  absl::Status Run() {
    OPENSET_RETURN_IF_ERROR(CheckDevices());
    OPENSET_RETURN_IF_ERROR(MakeFolders(store_.LogFolder()));
    Interrupt interrupt;
    while (true) {
      OPENSET_RETURN_IF_ERROR(StartWhatCan());
      if (running_ == 0) break;
      WaitForEvents(interrupt);
      if (const int signal = interrupt.Take(); signal != 0) {
        for (const std::unique_ptr<Worker>& worker : workers_) {
          if (worker->node >= 0) store_.UnmarkRunning(plan_.nodes[worker->node].key);
        }
        workers_.clear();  // kills them
        return absl::CancelledError(absl::StrCat("stopped by ", strsignal(signal)));
      }
      observer_->OnTick();
    }
    if (failed_ == 0) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat(failed_, failed_ == 1 ? " action" : " actions", " failed"));
  }

 private:
  absl::Status CheckDevices() const {
    for (int n : waiting_) {
      if (NeedsCuda(plan_.nodes[n]) && options_.cuda_devices.empty()) {
        return absl::FailedPreconditionError(absl::StrCat(Describe(plan_.trials[plan_.nodes[n].trials[0]]),
                                                          " runs on a GPU: give one, --devices=cuda:0"));
      }
    }
    return absl::OkStatus();
  }

  static bool NeedsCuda(const PlanNode& node) {
    return node.kind != ActionKind::kEvaluate && ExecutionOf(node).device() == ExecutionSpec::CUDA;
  }

  bool IsReady(const PlanNode& node) const {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [this](int input) { return plan_.nodes[input].done || finished_.count(input) > 0; });
  }

  std::optional<Seat> TakeSeat(const PlanNode& node) {
    Seat seat;
    if (NeedsCuda(node)) {
      if (free_devices_.empty()) return std::nullopt;
      seat.cuda_device = *free_devices_.begin();
      free_devices_.erase(free_devices_.begin());
      return seat;
    }
    const int wanted = node.kind == ActionKind::kEvaluate ? 1 : ExecutionOf(node).threads();
    seat.cpu_slots = std::min(wanted, options_.cpu_slots);
    if (seat.cpu_slots > free_slots_) return std::nullopt;
    free_slots_ -= seat.cpu_slots;
    return seat;
  }

  void GiveBack(const Seat& seat) {
    free_slots_ += seat.cpu_slots;
    if (seat.cuda_device.has_value()) free_devices_.insert(*seat.cuda_device);
  }

  // Starts ready actions while there are seats; later steps of a trial before earlier ones, so that trials complete.
  absl::Status StartWhatCan() {
    std::vector<int> order(waiting_.begin(), waiting_.end());
    std::stable_sort(order.begin(), order.end(),
                     [this](int a, int b) { return plan_.nodes[a].kind > plan_.nodes[b].kind; });
    for (int n : order) {
      if (plan_.nodes[n].is_passenger || !IsReady(plan_.nodes[n])) continue;
      const std::optional<Seat> seat = TakeSeat(plan_.nodes[n]);
      if (!seat.has_value()) continue;
      OPENSET_RETURN_IF_ERROR(Start(n, *seat));
    }
    return absl::OkStatus();
  }

  absl::Status Start(int n, const Seat& seat) {
    const PlanNode& node = plan_.nodes[n];
    OPENSET_ASSIGN_OR_RETURN(Worker * worker, IdleWorker(node.kind != ActionKind::kEvaluate));
    WorkRequest request;
    request.set_key(node.key);
    switch (node.kind) {
      case ActionKind::kTrain:
        *request.mutable_train() = node.train;
        break;
      case ActionKind::kInfer:
        *request.mutable_infer() = node.infer;
        for (int other : node.together) {
          KeyedInferAction* passenger = request.add_infer_together();
          passenger->set_key(plan_.nodes[other].key);
          *passenger->mutable_action() = plan_.nodes[other].infer;
        }
        break;
      case ActionKind::kEvaluate:
        *request.mutable_evaluate() = plan_.trials[node.trials[0]];
        break;
    }
    request.set_store(store_.folder());
    for (const std::string& folder : options_.data_folders) request.add_data_folder(folder);
    if (seat.cuda_device.has_value()) request.set_cuda_device(*seat.cuda_device);

    waiting_.erase(n);
    ++running_;
    worker->node = n;
    worker->seat = seat;
    std::error_code error;
    worker->log_start = std::filesystem::file_size(worker->log, error);
    store_.MarkRunning(node.key);
    observer_->OnStart(n);
    // If the worker is gone already its channel is at its end, which the next wait finds.
    MessageChannel(worker->process->channel()).Send(request).IgnoreError();
    return absl::OkStatus();
  }

  absl::StatusOr<Worker*> IdleWorker(bool trainer) {
    for (const std::unique_ptr<Worker>& worker : workers_) {
      if (worker->node < 0 && worker->trainer == trainer) return worker.get();
    }
    auto worker = std::make_unique<Worker>();
    worker->trainer = trainer;
    worker->log = TemporaryName(JoinPath(store_.LogFolder(), trainer ? "train" : "evaluate")) + ".log";
    OPENSET_ASSIGN_OR_RETURN(worker->process,
                             Subprocess::Start(trainer ? options_.trainer : options_.evaluator,
                                               {// Threads of LibTorch's operations are set for each action.
                                                {"OMP_NUM_THREADS", "1"},
                                                // Makes cuBLAS repeatable.
                                                {"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}},
                                               worker->log));
    workers_.push_back(std::move(worker));
    return workers_.back().get();
  }

  void WaitForEvents(const Interrupt& interrupt) {
    std::vector<pollfd> waiting = {{interrupt.fd(), POLLIN, 0}};
    std::vector<Worker*> busy;
    for (const std::unique_ptr<Worker>& worker : workers_) {
      if (worker->node < 0) continue;
      waiting.push_back({worker->process->channel(), POLLIN, 0});
      busy.push_back(worker.get());
    }
    if (poll(waiting.data(), waiting.size(), kTickMilliseconds) <= 0) return;
    for (size_t i = 0; i < busy.size(); ++i) {
      if (waiting[i + 1].revents != 0) HandleEvent(busy[i]);
    }
  }

  void HandleEvent(Worker* worker) {
    WorkEvent event;
    const absl::Status received = MessageChannel(worker->process->channel()).Receive(&event);
    if (!received.ok()) {
      worker->process->Kill(SIGKILL);
      const absl::Status end = worker->process->Wait();
      Finish(worker, absl::InternalError(absl::StrCat("its worker ", end.ok() ? "ended" : end.message())));
      workers_.erase(std::find_if(workers_.begin(), workers_.end(),
                                  [&](const std::unique_ptr<Worker>& other) { return other.get() == worker; }));
    } else if (event.has_progress()) {
      observer_->OnProgress(worker->node, event.progress());
    } else {
      Finish(worker, absl::Status(static_cast<absl::StatusCode>(event.outcome().code()), event.outcome().message()));
    }
  }

  void Finish(Worker* worker, const absl::Status& status) {
    const int n = worker->node;
    worker->node = -1;
    --running_;
    GiveBack(worker->seat);
    store_.UnmarkRunning(plan_.nodes[n].key);
    observer_->OnFinish(n, status);
    if (status.ok()) {
      finished_.insert(n);
      for (int passenger : plan_.nodes[n].together) {
        waiting_.erase(passenger);
        finished_.insert(passenger);
        observer_->OnFinish(passenger, absl::OkStatus());
      }
      return;
    }
    ++failed_;
    FailureRecord failure;
    failure.set_schema_version(kSchemaVersion);
    failure.set_kind(KindName(plan_.nodes[n].kind));
    failure.set_key(plan_.nodes[n].key);
    failure.set_description(Describe(plan_.trials[plan_.nodes[n].trials[0]]));
    failure.set_message(std::string(status.message()));
    failure.set_log_tail(LogTail(*worker));
    failure.set_failed_at_seconds(absl::ToUnixSeconds(absl::Now()));
    // A store that can't be written to fails the next action too; this one's message has been shown.
    store_.WriteFailure(failure).IgnoreError();
    SkipDependents(n);
    for (int passenger : plan_.nodes[n].together) {
      waiting_.erase(passenger);
      observer_->OnSkip(passenger);
      SkipDependents(passenger);
    }
  }

  void SkipDependents(int failed) {
    for (int n = failed + 1; n < plan_.nodes.size(); ++n) {
      const std::vector<int>& inputs = plan_.nodes[n].inputs;
      if (waiting_.count(n) == 0 || std::find(inputs.begin(), inputs.end(), failed) == inputs.end()) continue;
      waiting_.erase(n);
      observer_->OnSkip(n);
      SkipDependents(n);
    }
  }

  const Plan& plan_;
  const Store& store_;
  const LocalEngineOptions& options_;
  EngineObserver* observer_;
  std::set<int> waiting_;   // needed, not started
  std::set<int> finished_;  // succeeded in this run
  int running_ = 0;
  int failed_ = 0;
  int free_slots_;
  std::set<int> free_devices_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

absl::Status RunLocally(const Plan& plan, const Store& store, const LocalEngineOptions& options,
                        EngineObserver* observer) {
  return LocalEngine(plan, store, options, observer).Run();
}

}  // namespace openset
