#include "experiments/engine/local_engine.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/files/system_calls.h"
#include "core/machine/machine.h"
#include "core/process/gpu/gpus.h"
#include "core/process/message_channel.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"
#include "experiments/worker/action_log.h"

namespace openset {
namespace {

bool HasLeft(Subprocess* worker, const absl::StatusOr<std::vector<pid_t>>& on_gpu) {
  if (!worker->GroupHasEnded()) return false;
  if (!on_gpu.ok()) return true;
  const pid_t group = worker->pid();
  return std::none_of(on_gpu->begin(), on_gpu->end(),
                      [group](pid_t process) { return process == group || getpgid(process) == group; });
}

}  // namespace

absl::StatusOr<std::vector<pid_t>> ComparableGpuProcesses(int gpu) {
  if (!HasMachinePids())
    return absl::FailedPreconditionError("process ids differ between this container and the machine");
  return GpuProcesses(gpu);
}

LeavingWorkers::LeavingWorkers(ProcessesOnGpu processes_on_gpu, absl::Duration limit)
    : processes_on_gpu_(std::move(processes_on_gpu)), limit_(limit) {}

void LeavingWorkers::Add(int gpu, std::unique_ptr<Subprocess> worker) {
  worker->Kill(SIGKILL);
  leaving_.push_back({gpu, std::move(worker), SteadyNow()});
}

bool LeavingWorkers::IsFree(int gpu) {
  if (lost_.count(gpu) > 0) return false;
  const auto is_there = [gpu](const Leaving& leaving) { return leaving.gpu == gpu; };
  if (absl::c_none_of(leaving_, is_there)) return true;
  const absl::StatusOr<std::vector<pid_t>> on_gpu = processes_on_gpu_(gpu);
  const auto has_left = [&](const Leaving& leaving) {
    return is_there(leaving) && HasLeft(leaving.worker.get(), on_gpu);
  };
  leaving_.erase(std::remove_if(leaving_.begin(), leaving_.end(), has_left), leaving_.end());
  const auto stays = std::find_if(leaving_.begin(), leaving_.end(), is_there);
  if (stays == leaving_.end()) return true;
  if (SteadyNow() - stays->since >= limit_) {
    lost_[gpu] = absl::UnavailableError(absl::StrCat("GPU ", gpu, " is no longer used: worker ", stays->worker->pid(),
                                                     ", which was killed ", absl::FormatDuration(limit_),
                                                     " ago, has not left it (see nvidia-smi)"));
  }
  return false;
}

absl::Status LeavingWorkers::Lost(int gpu) const {
  const auto lost = lost_.find(gpu);
  return lost == lost_.end() ? absl::OkStatus() : lost->second;
}

CpuPins::CpuPins(int slots) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) all_.push_back(cpu);
    }
  }
  free_ = all_;
  pins_ = slots > 1 && slots == static_cast<int>(all_.size());
}

std::vector<int> CpuPins::Take(int count) {
  if (!pins_) return {};
  const auto end = free_.begin() + std::min<size_t>(count, free_.size());
  std::vector<int> taken(free_.begin(), end);
  free_.erase(free_.begin(), end);
  return taken;
}

void CpuPins::GiveBack(const std::vector<int>& cpus) {
  free_.insert(free_.end(), cpus.begin(), cpus.end());
  std::sort(free_.begin(), free_.end());
}

void CpuPins::Pin(pid_t process, const std::vector<int>& cpus) const {
  if (!pins_) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus.empty() ? all_ : cpus) CPU_SET(cpu, &set);
  const std::string tasks = absl::StrCat("/proc/", process, "/task");
  for (const std::string& name : ListFolder(tasks).value_or(std::vector<std::string>{})) {
    int thread = 0;
    if (absl::SimpleAtoi(name, &thread)) sched_setaffinity(thread, sizeof(set), &set);
  }
}

namespace {

// Whether the worker with LibTorch runs the action (tools/worker_main.cc). The other one runs all other actions.
bool NeedsTrainer(const WorkRequest& request) { return request.runs_network() || request.has_probe(); }

}  // namespace

struct LocalEngine::Worker {
  // Ends the process, and removes its own log if it is empty.
  ~Worker();

  // Returns the last lines that were written since the action began.
  std::string LogTail() const;
  // What it has not done, if it hangs.
  std::string HangReason() const;

  bool trainer;
  int gpu;
  std::unique_ptr<Subprocess> process;
  std::optional<PolledChannel> channel;
  std::string log, action_log;                  // the worker's; the action's, "" for none
  ActionId action = kNoAction;                  // kNoAction: idle
  int64_t log_start = 0, action_log_start = 0;  // sizes of the logs when the action began
  std::vector<int> cpus;                        // reserved for the action; empty: any
  int64_t cpu_ticks = 0, bytes_read = 0;        // used and read, at the last check
  bool has_spoken = false;                      // about its action
  bool runs_command = false;                    // it waits for another program, and reports that program's life
  absl::Duration alive;                         // time of the last sign of life
};

namespace {

constexpr int kLogTailLines = 20;
// Time between two checks of the CPU time of workers.
constexpr absl::Duration kPollInterval = absl::Seconds(5);
// Time between two checks whether the GPU that an action waits for is free.
constexpr absl::Duration kLookAtGpusEvery = absl::Milliseconds(50);

// Returns the variables to add to a worker's environment.
std::map<std::string, std::string> EnvironmentOf(int gpu) {
  // The threads of LibTorch's operations are set for each action.
  std::map<std::string, std::string> environment = {{"OMP_NUM_THREADS", "1"}};
  // Lets large tensors use GPU memory that is fragmented.
  constexpr char kAllocator[] = "PYTORCH_ALLOC_CONF";
  const bool is_set = std::getenv(kAllocator) != nullptr || std::getenv("PYTORCH_CUDA_ALLOC_CONF") != nullptr;
  if (gpu >= 0 && !is_set) environment[kAllocator] = "expandable_segments:True";
  return environment;
}

// Returns the last lines after byte `start`, however much a worker has written.
std::string TailOf(const std::string& file, int64_t start) {
  const std::string text = ReadEnd(file, 1 << 20, start);
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  if (lines.size() > kLogTailLines) lines.erase(lines.begin(), lines.end() - kLogTailLines);
  return absl::StrJoin(lines, "\n");
}

}  // namespace

LocalEngine::Worker::~Worker() {
  process.reset();
  struct stat info;
  if (StatFile(log, &info) == 0 && info.st_size == 0) Calls().Unlink(log);
}

std::string LocalEngine::Worker::LogTail() const {
  const std::string tail = TailOf(action_log, action_log_start);
  return tail.empty() ? TailOf(log, log_start) : tail;
}

std::string LocalEngine::Worker::HangReason() const {
  if (channel->IsReceiving()) return "stopped in the middle of a message, gave no sign of life";
  if (channel->IsSending()) return "stopped reading its messages, gave no sign of life";
  return "gave no sign of life";
}

LocalEngine::LocalEngine(const Store& store, LocalEngineOptions options)
    : store_(store),
      options_(std::move(options)),
      pins_(options_.capacity.cpu_threads),
      leaving_(options_.processes_on_gpu, options_.leave) {}

LocalEngine::~LocalEngine() { KillAll(); }

absl::Status LocalEngine::Start(ActionId action, int gpu, WorkRequest request) {
  request.set_store(store_.folder());
  for (const std::string& folder : options_.data_folders) request.add_data_folder(folder);
  if (gpu >= 0) request.set_cuda_device(gpu);
  request.set_allow_commands(options_.allow_commands);
  Waiting start{action, gpu, std::move(request)};
  OPENSET_ASSIGN_OR_RETURN(const bool began, Begin(start));
  if (!began) waiting_.push_back(std::move(start));
  return absl::OkStatus();
}

absl::StatusOr<bool> LocalEngine::Begin(const Waiting& start) {
  const WorkRequest& request = start.request;
  const bool trainer = NeedsTrainer(request);
  while (true) {
    Worker* worker = IdleWorker(trainer, start.gpu);
    if (!leaving_.IsFree(start.gpu)) return false;
    const bool is_new = worker == nullptr;
    if (is_new) {
      OPENSET_ASSIGN_OR_RETURN(worker, NewWorker(trainer, start.gpu));
    }
    worker->log_start = FileSize(worker->log);
    worker->action_log = ActionLogPath(request);
    worker->action_log_start = FileSize(worker->action_log);
    worker->action = start.action;
    worker->has_spoken = false;
    worker->runs_command = request.action().train().training().has_command();
    worker->alive = SteadyNow();
    worker->cpus = pins_.Take(request.cpu_slots());
    pins_.Pin(worker->process->pid(), worker->cpus);
    const absl::Status sent = worker->channel->Send(request);
    // If a new worker is already dead (its log says why), its channel is at its end, which the next wait notices.
    if (sent.ok() || (is_new && absl::IsUnavailable(sent))) return true;
    Remove(worker);  // it died while idle
    if (!absl::IsUnavailable(sent)) return sent;
  }
}

void LocalEngine::BeginWaiting(std::vector<EngineEvent>* events) {
  for (auto start = waiting_.begin(); start != waiting_.end();) {
    EngineEvent event{start->action};
    if (start->is_to_stop) {
      event.end = absl::CancelledError("stopped before it began");
    } else if (const absl::StatusOr<bool> began = Begin(*start); !began.ok()) {
      event.end = began.status();
    } else if (const absl::Status lost = leaving_.Lost(start->gpu); !lost.ok()) {
      event.end = lost;
      event.gpu_is_lost = true;
    } else if (!*began) {
      ++start;
      continue;
    }
    if (event.end.has_value()) events->push_back(std::move(event));
    start = waiting_.erase(start);
  }
}

std::vector<EngineEvent> LocalEngine::Wait(int wake, absl::Duration at_most) {
  std::vector<pollfd> polled = {{wake, POLLIN, 0}};
  std::vector<Worker*> busy;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->action == kNoAction) continue;
    polled.push_back({worker->process->channel(), worker->channel->Events(), 0});
    busy.push_back(worker.get());
  }
  std::vector<EngineEvent> events;
  if (!waiting_.empty()) at_most = std::min(at_most, kLookAtGpusEvery);
  if (poll(polled.data(), polled.size(), static_cast<int>(absl::ToInt64Milliseconds(at_most))) > 0) {
    for (size_t i = 0; i < busy.size(); ++i) {
      if (polled[i + 1].revents != 0) AddEvents(busy[i], &events);
    }
  }
  AddHung(&events);
  BeginWaiting(&events);
  return events;
}

void LocalEngine::AddHung(std::vector<EngineEvent>* events) {
  const absl::Duration now = SteadyNow();
  if (now - looked_ < std::min(kPollInterval, options_.hang / 4)) return;
  // If this process was itself stopped, with or without its workers, it saw nothing in the meantime.
  const bool slept = looked_ > absl::ZeroDuration() && now - looked_ > options_.hang / 2;
  looked_ = now;
  std::vector<Worker*> hung;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->action == kNoAction) continue;
    const std::optional<ProcessStat> stat = StatOf(worker->process->pid());
    const int64_t ticks = stat.has_value() ? stat->cpu_ticks : -1, read = BytesReadBy(worker->process->pid());
    // A process that waits for a GPU or for another program uses the CPU, even if they hang. One that works doesn't
    // stop within a message.
    const bool waits = worker->gpu >= 0 || worker->runs_command;
    const bool works = (ticks != worker->cpu_ticks || read != worker->bytes_read) && !(waits && worker->has_spoken) &&
                       !worker->channel->IsReceiving();
    if (slept || works || worker->channel->IsReadable()) worker->alive = now;
    worker->cpu_ticks = ticks;
    worker->bytes_read = read;
    if (now - worker->alive >= options_.hang) hung.push_back(worker.get());
  }
  for (Worker* worker : hung) {
    EngineEvent event{worker->action};
    event.end = absl::DeadlineExceededError(absl::StrCat("its worker hung: it ", worker->HangReason(), " for ",
                                                         absl::FormatDuration(options_.hang), " and was killed"));
    event.log_tail = worker->LogTail();
    events->push_back(std::move(event));
    Remove(worker);
  }
}

void LocalEngine::GiveCpus(ActionId action, int cpu_slots) {
  WorkRequest message;
  message.mutable_about_running()->set_cpu_slots(cpu_slots);
  for (Waiting& start : waiting_) {
    if (start.action == action) start.request.set_cpu_slots(cpu_slots);
  }
  Worker* worker = WorkerOf(action);
  if (worker == nullptr) return;
  const std::vector<int> more = pins_.Take(std::max(0, cpu_slots - static_cast<int>(worker->cpus.size())));
  worker->cpus.insert(worker->cpus.end(), more.begin(), more.end());
  pins_.Pin(worker->process->pid(), worker->cpus);
  // If the worker is dead, the next wait notices.
  worker->channel->Send(message).IgnoreError();
}

void LocalEngine::AskToStop(ActionId action) {
  WorkRequest message;
  message.mutable_about_running()->set_stop(true);
  for (Waiting& start : waiting_) start.is_to_stop |= start.action == action;
  // If the worker is dead, the next wait notices.
  if (Worker* worker = WorkerOf(action); worker != nullptr) worker->channel->Send(message).IgnoreError();
}

void LocalEngine::Kill(ActionId action) {
  const auto is_it = [action](const Waiting& start) { return start.action == action; };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_it), waiting_.end());
  if (Worker* worker = WorkerOf(action); worker != nullptr) Remove(worker);
}

LocalEngine::Worker* LocalEngine::WorkerOf(ActionId action) const {
  const auto worker = absl::c_find_if(workers_, [&](const auto& one) { return one->action == action; });
  return worker == workers_.end() ? nullptr : worker->get();
}

void LocalEngine::MakeIdle(Worker* worker) {
  worker->action = kNoAction;
  pins_.GiveBack(std::exchange(worker->cpus, {}));
}

void LocalEngine::KillAll() {
  waiting_.clear();
  for (const std::unique_ptr<Worker>& worker : workers_) worker->process->Kill(SIGKILL);
  for (const std::unique_ptr<Worker>& worker : workers_) MakeIdle(worker.get());
  workers_.clear();  // waits for their ends
}

LocalEngine::Worker* LocalEngine::IdleWorker(bool trainer, int gpu) {
  for (size_t i = 0; i < workers_.size();) {
    Worker* worker = workers_[i].get();
    if (worker->action != kNoAction || worker->trainer != trainer || worker->gpu != gpu) {
      ++i;
    } else if (worker->channel->IsReceiving() || worker->channel->IsReadable()) {
      Remove(worker);  // idle workers send nothing, so it died
    } else {
      return worker;
    }
  }
  return nullptr;
}

absl::StatusOr<LocalEngine::Worker*> LocalEngine::NewWorker(bool trainer, int gpu) {
  OPENSET_RETURN_IF_ERROR(MakeFolders(store_.LogFolder()));
  auto worker = std::make_unique<Worker>();
  worker->trainer = trainer;
  worker->gpu = gpu;
  worker->log = TemporaryName(JoinPath(store_.LogFolder(), trainer ? "train" : "evaluate")) + ".log";
  absl::StatusOr<std::unique_ptr<Subprocess>> process =
      Subprocess::Start(trainer ? options_.trainer : options_.evaluator, EnvironmentOf(gpu), worker->log);
  if (!process.ok()) return process.status();
  worker->process = *std::move(process);
  worker->channel.emplace(worker->process->channel());
  workers_.push_back(std::move(worker));
  return workers_.back().get();
}

void LocalEngine::Remove(Worker* worker) {
  MakeIdle(worker);
  worker->process->Kill(SIGKILL);
  if (worker->gpu >= 0) leaving_.Add(worker->gpu, std::move(worker->process));
  workers_.erase(absl::c_find_if(workers_, [&](const auto& one) { return one.get() == worker; }));
}

void LocalEngine::AddEvents(Worker* worker, std::vector<EngineEvent>* events) {
  if (worker->channel->Move() > 0) worker->alive = SteadyNow();
  while (true) {
    WorkEvent event;
    const absl::StatusOr<bool> taken = worker->channel->Take(&event);
    if (taken.ok() && !*taken) return;
    if (!taken.ok() || !event.has_progress()) {
      events->push_back(EndAction(worker, taken.status(), event));
      return;
    }
    worker->has_spoken = true;
    EngineEvent progress{worker->action};
    progress.progress = event.progress();
    events->push_back(std::move(progress));
  }
}

EngineEvent LocalEngine::EndAction(Worker* worker, absl::Status received, const WorkEvent& event) {
  EngineEvent result{worker->action};
  if (received.ok() && !event.has_outcome()) received = absl::InvalidArgumentError("it is empty");
  if (received.ok()) {
    result.end = absl::Status(static_cast<absl::StatusCode>(event.outcome().code()), event.outcome().message());
  } else if (absl::IsInvalidArgument(received)) {
    result.end = absl::UnavailableError(
        absl::StrCat("its worker sent a message that can't be read (", received.message(), ") and was killed"));
  } else {
    worker->process->Kill(SIGKILL);
    const std::optional<ProcessEnd> end = worker->process->WaitFor(Subprocess::kLongestEnd);
    const std::string how = !end.has_value() ? "closed its channel and can't be killed"
                            : end->ok()      ? "ended"
                                             : end->Text();
    // A worker closes its channel only by ending, so that our signal came too late to be the reason.
    const bool is_killed = end.has_value() && end->signal == SIGKILL;
    result.end = absl::UnavailableError(
        absl::StrCat("its worker ", how, is_killed ? ": memory ran out, or a user killed it" : ""));
  }
  if (!result.end->ok()) result.log_tail = worker->LogTail();
  MakeIdle(worker);
  if (!received.ok() || event.outcome().is_last()) Remove(worker);
  return result;
}

}  // namespace openset
