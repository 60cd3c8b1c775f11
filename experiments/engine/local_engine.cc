#include "experiments/engine/local_engine.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/process/message_channel.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"

namespace openset {

struct LocalEngine::Worker {
  bool trainer;
  int gpu;
  std::unique_ptr<Subprocess> process;
  std::string log;
  int action = -1;               // -1: idle
  std::uintmax_t log_start = 0;  // size of the log when the action began
};

namespace {

constexpr int kLogTailLines = 20;

std::string LogTail(const std::string& file, std::uintmax_t start) {
  const absl::StatusOr<std::string> log = ReadFile(file);
  if (!log.ok()) return "";
  std::vector<std::string> lines =
      absl::StrSplit(log->substr(std::min<size_t>(log->size(), start)), '\n', absl::SkipEmpty());
  if (lines.size() > kLogTailLines) lines.erase(lines.begin(), lines.end() - kLogTailLines);
  return absl::StrJoin(lines, "\n");
}

// Whether there is something to read from it, or it is at its end.
bool IsReadable(int fd) {
  pollfd waiting = {fd, POLLIN, 0};
  return poll(&waiting, 1, 0) > 0;
}

}  // namespace

LocalEngine::LocalEngine(const Store& store, LocalEngineOptions options)
    : store_(store), options_(std::move(options)) {}

LocalEngine::~LocalEngine() { KillAll(); }

absl::Status LocalEngine::Start(int action, int gpu, WorkRequest request) {
  request.set_store(store_.folder());
  for (const std::string& folder : options_.data_folders) request.add_data_folder(folder);
  if (gpu >= 0) request.set_cuda_device(gpu);
  const bool trainer = !request.has_evaluate();
  const auto give = [action, &request](Worker* worker) {
    std::error_code error;
    worker->log_start = std::filesystem::file_size(worker->log, error);
    worker->action = action;
    return MessageChannel(worker->process->channel()).Send(request);
  };
  while (Worker* worker = IdleWorker(trainer, gpu)) {
    if (give(worker).ok()) return absl::OkStatus();
    Remove(worker);  // it died while it was idle
  }
  OPENSET_ASSIGN_OR_RETURN(Worker * worker, NewWorker(trainer, gpu));
  // If it is gone already, which is for a reason in its log, its channel is at its end, which the next wait finds.
  give(worker).IgnoreError();
  return absl::OkStatus();
}

std::vector<EngineEvent> LocalEngine::Wait(int wake, absl::Duration at_most) {
  std::vector<pollfd> waiting = {{wake, POLLIN, 0}};
  std::vector<Worker*> busy;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->action < 0) continue;
    waiting.push_back({worker->process->channel(), POLLIN, 0});
    busy.push_back(worker.get());
  }
  std::vector<EngineEvent> events;
  if (poll(waiting.data(), waiting.size(), static_cast<int>(absl::ToInt64Milliseconds(at_most))) <= 0) return events;
  for (size_t i = 0; i < busy.size(); ++i) {
    if (waiting[i + 1].revents != 0) events.push_back(ReadEvent(busy[i]));
  }
  return events;
}

void LocalEngine::KillAll() {
  for (const std::unique_ptr<Worker>& worker : workers_) worker->process->Kill(SIGKILL);
  workers_.clear();  // waits for their ends
}

LocalEngine::Worker* LocalEngine::IdleWorker(bool trainer, int gpu) {
  for (size_t i = 0; i < workers_.size();) {
    Worker* worker = workers_[i].get();
    if (worker->action >= 0 || worker->trainer != trainer || worker->gpu != gpu) {
      ++i;
    } else if (IsReadable(worker->process->channel())) {
      Remove(worker);  // it says nothing when it is idle: it died
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
  // Threads of LibTorch's operations are set for each action.
  absl::StatusOr<std::unique_ptr<Subprocess>> process =
      Subprocess::Start(trainer ? options_.trainer : options_.evaluator, {{"OMP_NUM_THREADS", "1"}}, worker->log);
  if (!process.ok()) {
    std::error_code error;
    std::filesystem::remove(worker->log, error);
    return process.status();
  }
  worker->process = *std::move(process);
  workers_.push_back(std::move(worker));
  return workers_.back().get();
}

void LocalEngine::Remove(const Worker* worker) {
  workers_.erase(std::find_if(workers_.begin(), workers_.end(),
                              [&](const std::unique_ptr<Worker>& other) { return other.get() == worker; }));
}

EngineEvent LocalEngine::ReadEvent(Worker* worker) {
  EngineEvent result{worker->action};
  WorkEvent event;
  const absl::Status received = MessageChannel(worker->process->channel()).Receive(&event);
  if (received.ok() && event.has_progress()) {
    result.progress = event.progress();
    return result;
  }
  if (received.ok()) {
    result.end = absl::Status(static_cast<absl::StatusCode>(event.outcome().code()), event.outcome().message());
  } else {
    worker->process->Kill(SIGKILL);
    const absl::Status end = worker->process->Wait();
    result.end = absl::InternalError(absl::StrCat("its worker ", end.ok() ? "ended" : end.message()));
  }
  if (!result.end->ok()) result.log_tail = LogTail(worker->log, worker->log_start);
  worker->action = -1;
  if (!received.ok()) Remove(worker);
  return result;
}

}  // namespace openset
