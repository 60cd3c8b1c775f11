// The environment of an action: what a worker passes to the code that executes it.
#ifndef OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_
#define OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_

#include <functional>
#include <string>
#include <vector>

#include "core/process/steady_clock.h"
#include "core/tensor/torch.h"
#include "experiments/store/stage_clock.h"
#include "experiments/store/store.h"
#include "experiments/worker/image_cache.h"
#include "experiments/worker/worker_loop.h"

namespace openset {

struct ActionContext {
  std::string key;  // digest of the action
  Store store;
  at::Device device;
  ImageCache* images;
  ReportProgress report;
  StageClock clock;  // runs since the context was made
  // For a training that may continue a stopped one: that training's key (WorkRequest.continued_key); otherwise "".
  std::string continued_key;
  // Returns the number of CPUs that the action may use now if this doesn't change any bit of the result
  // (WorkRequest.cpu_slots). It grows when other CPUs become free, so an inference calls it before each batch.
  std::function<int()> cpu_slots = [] { return 1; };
  // Whether to save the state and stop. Called after each step of a training.
  StopAsked stop_asked = [] { return false; };
  // The clock that determines when a training's state is saved. Tests set it.
  std::function<absl::Duration()> now = SteadyNow;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_
