#include "experiments/worker/worker_loop.h"

#include <signal.h>

#include <algorithm>
#include <new>
#include <string>

#include "absl/time/time.h"
#include "core/in_parallel.h"
#include "core/logging.h"
#include "core/process/message_channel.h"
#include "core/process/steady_clock.h"
#include "core/process/subprocess.h"
#include "experiments/spec/action.proto.h"
#include "experiments/worker/action_log.h"

namespace openset {
namespace {

constexpr absl::Duration kProgressEvery = absl::Milliseconds(200);
constexpr absl::Duration kPollInterval = absl::Milliseconds(50);

const Execute& ExecuteOf(const WorkRequest& request, const WorkerActions& actions) {
  static const Execute* const kNone = new Execute;
  if (request.has_probe()) return actions.probe;
  switch (request.action().kind_case()) {
    case ActionSpec::kTrain:
      return actions.train;
    case ActionSpec::kInfer:
      return actions.infer;
    case ActionSpec::kEvaluate:
      return actions.evaluate;
    case ActionSpec::kChoose:
    case ActionSpec::KIND_NOT_SET:
      break;
  }
  return *kNone;
}

}  // namespace

int ServeWork(const WorkerActions& actions, const std::function<absl::Status(const std::exception&)>& status_of) {
  for (const int asking : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) signal(asking, SIG_IGN);
  MessageChannel channel(Subprocess::kChannel);
  while (true) {
    WorkRequest request;
    const absl::Status received = channel.Receive(&request);
    if (absl::IsOutOfRange(received)) return 0;
    if (!received.ok()) {
      LOG(ERROR) << received;
      return 1;
    }
    if (request.has_about_running()) continue;  // about an action that has ended in the meantime
    absl::Duration last = -absl::InfiniteDuration();
    const ReportProgress report = [&](const WorkProgress& progress) {
      const absl::Duration now = SteadyNow();
      if (now - last < kProgressEvery) return;
      last = now;
      WorkEvent event;
      *event.mutable_progress() = progress;
      channel.Send(event).IgnoreError();  // if the engine is gone, the loop ends
    };
    absl::Duration looked = -absl::InfiniteDuration();
    bool stop = false;
    const Poll poll = [&] {
      const absl::Duration now = SteadyNow();
      if (stop || now - looked < kPollInterval) return stop;
      looked = now;
      // The engine sends only messages about this action before its outcome.
      WorkRequest message;
      while (!stop && channel.IsReadable()) {
        stop = !channel.Receive(&message).ok() || message.about_running().stop();
        if (!stop && message.about_running().has_cpu_slots())
          request.set_cpu_slots(message.about_running().cpu_slots());
      }
      return stop;
    };
    bool is_last = false;
    const absl::Status status = [&] {
      const ActionLog log(ActionLogPath(request));
      absl::Status end;
      try {
        const Execute& execute = ExecuteOf(request, actions);
        end = execute != nullptr ? execute(request, report, poll)
                                 : absl::InternalError("this worker doesn't do such actions");
      } catch (const std::bad_alloc&) {
        end = absl::ResourceExhaustedError("out of memory");
        is_last = true;
      } catch (const std::exception& error) {
        LOG(ERROR) << error.what();
        end = status_of != nullptr ? status_of(error) : absl::InternalError(error.what());
        is_last = absl::IsResourceExhausted(end) || absl::IsUnavailable(end);
      }
      if (absl::IsCancelled(end)) {
        LOG(INFO) << request.key() << ": " << end.message();
      } else if (!end.ok()) {
        LOG(ERROR) << request.key() << ": " << end;
      }
      return end;
    }();
    WorkEvent event;
    event.mutable_outcome()->set_code(static_cast<int>(status.code()));
    event.mutable_outcome()->set_message(std::string(status.message()));
    if (is_last) event.mutable_outcome()->set_is_last(true);
    if (!channel.Send(event).ok()) return 1;
    if (is_last) return 0;
  }
}

namespace {

void LimitToSlots(const WorkRequest& request) { LimitThreads(std::max(1, request.cpu_slots())); }

}  // namespace

ThreadAdjuster::ThreadAdjuster(const WorkRequest& request, const Poll& poll) {
  LimitToSlots(request);
  thread_ = TryToStartThread([this, &request, &poll] {
    while (!ended_.WaitForNotificationWithTimeout(kPollInterval)) {
      poll();  // also receives messages about more CPUs
      LimitToSlots(request);
    }
  });
}

ThreadAdjuster::~ThreadAdjuster() {
  ended_.Notify();
  if (thread_.joinable()) thread_.join();
}

}  // namespace openset
