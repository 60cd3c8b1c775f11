// What a worker knows of the place it works in.
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
  // Of a training that may go on from where another one stopped (WorkRequest.continued_key); "" for all others.
  std::string continued_key;
  // The number of CPUs that it may use now if this changes no bit (WorkRequest.cpu_slots). It grows when others become
  // free, so an inference asks before each batch.
  std::function<int()> cpu_slots = [] { return 1; };
  // Asked after each step of a training.
  StopAsked stop_asked = [] { return false; };
  // The clock that says when a training's state is saved. Tests set it.
  std::function<absl::Duration()> now = SteadyNow;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_
