#include "experiments/worker/more_threads.h"

#include <algorithm>

#include "absl/time/time.h"
#include "core/in_parallel.h"

namespace openset {
namespace {

constexpr absl::Duration kLookEvery = absl::Milliseconds(50);

void LimitToSlots(const WorkRequest& request) { LimitThreads(std::max(1, request.cpu_slots())); }

}  // namespace

MoreThreads::MoreThreads(const WorkRequest& request, const StopAsked& stop_asked) {
  LimitToSlots(request);
  thread_ = TryToStartThread([this, &request, &stop_asked] {
    while (!ended_.WaitForNotificationWithTimeout(kLookEvery)) {
      stop_asked();  // also receives messages about more CPUs
      LimitToSlots(request);
    }
  });
}

MoreThreads::~MoreThreads() {
  ended_.Notify();
  if (thread_.joinable()) thread_.join();
}

}  // namespace openset
