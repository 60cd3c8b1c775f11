#include "experiments/worker/worker_loop.h"

#include "absl/time/time.h"
#include "core/logging.h"
#include "core/process/message_channel.h"
#include "core/process/steady_clock.h"

namespace openset {
namespace {

constexpr absl::Duration kProgressEvery = absl::Milliseconds(200);

}  // namespace

int ServeWork(int fd, const Execute& execute) {
  MessageChannel channel(fd);
  while (true) {
    WorkRequest request;
    const absl::Status received = channel.Receive(&request);
    if (absl::IsOutOfRange(received)) return 0;
    if (!received.ok()) {
      LOG(ERROR) << received;
      return 1;
    }
    absl::Duration last = -absl::InfiniteDuration();
    const absl::Status status = execute(request, [&](const WorkProgress& progress) {
      const absl::Duration now = SteadyNow();
      if (now - last < kProgressEvery) return;
      last = now;
      WorkEvent event;
      *event.mutable_progress() = progress;
      channel.Send(event).IgnoreError();  // an engine that is gone ends the loop below
    });
    if (!status.ok()) LOG(ERROR) << request.key() << ": " << status;
    WorkEvent event;
    event.mutable_outcome()->set_code(static_cast<int>(status.code()));
    event.mutable_outcome()->set_message(std::string(status.message()));
    if (!channel.Send(event).ok()) return 1;
  }
}

}  // namespace openset
