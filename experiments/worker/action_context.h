// What a worker knows of the place it works in.
#ifndef OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_
#define OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_

#include <functional>
#include <string>
#include <vector>

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
  // CPUs that it may keep busy where that changes no bit (WorkRequest.cpu_slots): more, after stop_asked() was called,
  // if others have fallen free.
  std::function<int()> cpu_slots = [] { return 1; };
  // Asked after each step of a training, and before each of the batches of an inference, which goes on all the same.
  StopAsked stop_asked = [] { return false; };
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_
