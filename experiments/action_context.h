// What a worker knows of the place it works in.
#ifndef OPENSET_EXPERIMENTS_ACTION_CONTEXT_H_
#define OPENSET_EXPERIMENTS_ACTION_CONTEXT_H_

#include <string>
#include <vector>

#include "core/torch.h"
#include "experiments/image_cache.h"
#include "experiments/store.h"
#include "experiments/worker_loop.h"

namespace openset {

struct ActionContext {
  std::string key;  // digest of the action
  Store store;
  at::Device device;
  ImageCache* images;
  ReportProgress report;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ACTION_CONTEXT_H_
