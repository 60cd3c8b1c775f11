// The worker that trains and infers for the engine (experiments/engine/local_engine.h): openset_worker
// CATALOG_FOLDER...
#include "core/tensor/torch.h"
// core/tensor/torch.h goes first: core/logging.h takes over its macros.
#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/logging.h"
#include "core/process/heap.h"
#include "core/process/run_main.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"
#include "data/catalog.h"
#include "experiments/infer/inference.h"
#include "experiments/train/probe.h"
#include "experiments/train/training.h"
#include "experiments/worker/action_context.h"
#include "experiments/worker/execution.h"
#include "experiments/worker/worker_loop.h"
#include "models/script_file.h"

namespace openset {
namespace {

absl::Status Execute(const WorkRequest& request, ImageCache* images, const ReportProgress& report,
                     const StopAsked& stop_asked) {
  const at::Device device =
      request.has_cuda_device() ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(request.cuda_device())) : at::kCPU;
  const ActionContext context{
      request.key(),           Store(request.store()),           device,    images, report, StageClock(),
      request.continued_key(), std::max(1, request.cpu_slots()), stop_asked};
  const ExecutionSpec& execution = request.has_train()   ? request.train().execution()
                                   : request.has_infer() ? request.infer().train(0).execution()
                                   : request.has_probe() ? request.probe().train().execution()
                                                         : ExecutionSpec::default_instance();
  OPENSET_RETURN_IF_ERROR(CheckDeviceKind(execution, device));
  try {
    if (request.has_train()) return Train(request.train(), context);
    if (request.has_probe()) return Probe(request.probe(), context);
    if (request.has_infer()) {
      std::vector<InferRequest> requests = {{request.key(), request.infer()}};
      for (const KeyedInferAction& other : request.infer_together()) requests.push_back({other.key(), other.action()});
      return Infer(requests, context);
    }
  } catch (const c10::OutOfMemoryError& error) {
    LOG(ERROR) << error.what();
    return absl::ResourceExhaustedError(WhatFailed(error));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::exception& error) {
    // LibTorch's own errors: out of memory, a device that is not there, an operation without a kernel, a script's.
    LOG(ERROR) << error.what();
    return absl::InternalError(WhatFailed(error));
  }
  return absl::InternalError("this worker trains and infers only");
}

int Serve(const std::vector<std::string>& catalog_folders) {
  absl::StatusOr<Catalog> catalog = Catalog::Open(catalog_folders);
  if (!catalog.ok()) {
    LOG(ERROR) << catalog.status();
    return 2;
  }
  std::unique_ptr<ImageCache> images;
  return ServeWork(
      Subprocess::kChannel, [&](const WorkRequest& request, const ReportProgress& report, const StopAsked& stop_asked) {
        if (images == nullptr) {
          images = std::make_unique<ImageCache>(
              *catalog, std::vector<std::string>(request.data_folder().begin(), request.data_folder().end()));
        }
        return Execute(request, images.get(), report, stop_asked);
      });
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) {
  openset::InitLogging(argv[0]);
  openset::KeepFreedMemory();
  if (argc < 2) {
    std::cerr << "openset_worker is started by 'openset run'.\n";
    return 2;
  }
  return openset::RunMain("openset_worker", [&] { return openset::Serve({argv + 1, argv + argc}); });
}
