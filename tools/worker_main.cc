// The worker that trains and infers for the engine (experiments/engine/local_engine.h): openset_worker
// CATALOG_FOLDER...
#include "core/tensor/torch.h"
// core/tensor/torch.h comes first, because core/logging.h replaces its macros.
#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/files/remove_tree.h"
#include "core/logging.h"
#include "core/process/heap.h"
#include "core/process/run_main.h"
#include "core/status_macros.h"
#include "core/tensor/cuda.h"
#include "core/tensor/device_memory.h"
#include "core/tensor/torch_error.h"
#include "core/tensor/torch_tensor_base.h"  // IWYU pragma: keep: const_data_ptr.cc is linked
#include "data/catalog.h"
#include "experiments/arrays/array_actions.h"
#include "experiments/arrays/command_training.h"
#include "experiments/infer/inference.h"
#include "experiments/learning_curve/measure_epoch.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/method/training_epochs.h"
#include "experiments/train/checkpoint.h"
#include "experiments/train/probe.h"
#include "experiments/train/training.h"
#include "experiments/worker/action_context.h"
#include "experiments/worker/execution.h"
#include "experiments/worker/worker_loop.h"
#include "models/torch_script.h"

namespace openset {
namespace {

// LibTorch's exceptions: out of memory, a failed device, an operation without a kernel, errors of a script.
absl::Status StatusOfTorch(const std::exception& error) {
  return absl::Status(CodeOfTorchError(error), WhatFailed(error));
}

const ExecutionSpec& ExecutionOf(const WorkRequest& request) {
  if (request.has_probe()) return request.probe().train().execution();
  return request.action().has_train() ? request.action().train().execution() : request.action().infer().execution();
}

// A training by another program, which writes the weights of the action's network.
absl::Status TrainByCommand(const WorkRequest& request, const ActionContext& context, Catalog* catalog) {
  const TrainAction& action = request.action().train();
  ArrayContext arrays{request.key(), context.store, catalog, {}, StageClock(), context.report, context.poll};
  arrays.data_folders.assign(request.data_folder().begin(), request.data_folder().end());
  if (request.has_cuda_device()) arrays.cuda_device = request.cuda_device();
  arrays.continued_key = request.continued_key();
  arrays.allow_commands = request.allow_commands();
  OPENSET_ASSIGN_OR_RETURN(const CommandResult made, RunTrainingCommand(action, arrays));
  const absl::Status committed = CommitWeights(action, made.weights, made.epochs, context);
  if (!committed.ok()) return Annotate(committed, "training.command");
  // A longer training continues from the state of one that stops early.
  return IsStoppedEarly(action.training()) ? absl::OkStatus() : RemoveTree(context.store.WorkFolder(request.key()));
}

// `openset_worker --check`, which starts only if the libraries have all symbols: whether tensors lie in memory as the
// headers of our version say. The left sides are compiled into this program, the right ones run in LibTorch.
int CheckLibTorch() {
  const at::Tensor all = at::arange(15, at::kFloat).view({3, 5}), part = all.narrow(1, 1, 3);
  const bool fits = part.dim() == 2 && part.size(0) == at::size(part, 0) && part.size(1) == at::size(part, 1) &&
                    part.stride(0) == 5 && part.storage_offset() == 1 && part.numel() == 9 &&
                    part.scalar_type() == at::kFloat && part.device().is_cpu() && !part.requires_grad() &&
                    part.data_ptr<float>()[5] == at::sum(part.select(0, 1).select(0, 0)).item<float>();
  if (!fits) std::cerr << "tensors lie in memory in another way than this program expects\n";
  return fits ? 0 : 3;
}

int Serve(const std::vector<std::string>& catalog_folders) {
  absl::StatusOr<Catalog> catalog = Catalog::Open(catalog_folders);
  if (!catalog.ok()) {
    LOG(ERROR) << catalog.status();
    return 2;
  }
  std::unique_ptr<ImageCache> images;
  using Act = std::function<absl::Status(const WorkRequest& request, const ActionContext& context)>;
  const auto in_context = [&](const Act& act) -> Execute {
    return [&, act](const WorkRequest& request, const ReportProgress& report, const Poll& poll) -> absl::Status {
      if (images == nullptr) {
        images = std::make_unique<ImageCache>(
            *catalog, std::vector<std::string>(request.data_folder().begin(), request.data_folder().end()));
      }
      images->BeginAction();
      const at::Device device = request.has_cuda_device()
                                    ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(request.cuda_device()))
                                    : at::kCPU;
      if (device.is_cuda()) OPENSET_RETURN_IF_ERROR(MakeCudaUsable());
      OPENSET_RETURN_IF_ERROR(CheckDevice(ExecutionOf(request), device));
      // Otherwise the first pinned memory makes a context on GPU 0, which keeps some 500 MB of it.
      const c10::OptionalDeviceGuard on_device(device.is_cuda() ? std::optional(device) : std::nullopt);
      const FreesDeviceMemory frees(device);  // other processes need the memory of an idle worker
      const auto cpu_slots = [&request, &poll] {
        poll();  // also receives messages about more CPUs
        return std::max(1, request.cpu_slots());
      };
      return act(request, {request.key(), request.action().input(), Store(request.store()), device, images.get(),
                           report, StageClock(), request.continued_key(), cpu_slots, poll});
    };
  };
  WorkerActions actions;
  actions.train = in_context([&](const WorkRequest& request, const ActionContext& context) {
    const TrainAction& train = request.action().train();
    if (train.training().has_command()) return TrainByCommand(request, context, &*catalog);
    return Train(train, context, MeasureEpoch);
  });
  actions.infer = in_context([](const WorkRequest& request, const ActionContext& context) {
    std::vector<InferRequest> requests = {{request.key(), request.action()}};
    for (const WorkRequest& other : request.passenger()) requests.push_back({other.key(), other.action()});
    return Infer(requests, context);
  });
  actions.probe = in_context(
      [](const WorkRequest& request, const ActionContext& context) { return Probe(request.probe(), context); });
  return ServeWork(actions, StatusOfTorch);
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
  if (absl::string_view(argv[1]) == "--check") return openset::CheckLibTorch();
  return openset::RunMain("openset_worker", [&] { return openset::Serve({argv + 1, argv + argc}); });
}
