#include "tools/cli/devices/devices.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/process/gpu/cuda_library.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// "0 (NVIDIA H200), 1 (NVIDIA A100)".
std::string Listed(const std::vector<Gpu>& gpus) {
  std::string text;
  for (size_t i = 0; i < gpus.size(); ++i) absl::StrAppend(&text, i > 0 ? ", " : "", i, " (", gpus[i].name, ")");
  return text.empty() ? "none" : text;
}

absl::StatusOr<std::vector<int>> OrdinalsIn(const std::string& flag) {
  const absl::Status invalid =
      absl::InvalidArgumentError(absl::StrCat("'", flag, "' is not auto, cpu or cuda:0,1,..."));
  absl::string_view list = flag;
  if (!absl::ConsumePrefix(&list, "cuda:")) return invalid;
  std::vector<int> ordinals;
  for (absl::string_view text : absl::StrSplit(list, ',')) {
    int ordinal = -1;
    if (!absl::SimpleAtoi(text, &ordinal) || ordinal < 0) return invalid;
    if (std::count(ordinals.begin(), ordinals.end(), ordinal) > 0) {
      return absl::InvalidArgumentError(absl::StrCat("GPU ", ordinal, " is named twice"));
    }
    ordinals.push_back(ordinal);
  }
  return ordinals;
}

// The GPUs that CUDA has code for; an error if there is none.
absl::StatusOr<std::vector<int>> Usable(const std::vector<Gpu>& gpus) {
  std::vector<int> ordinals;
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (CheckGpu(gpus[i]).ok()) ordinals.push_back(static_cast<int>(i));
  }
  if (ordinals.empty()) return CheckGpu(gpus[0]);
  return ordinals;
}

}  // namespace

GpuMachine ThisGpuMachine() {
  GpuMachine machine;
  machine.gpus = [] { return ListGpus(); };
  machine.library = [] {
    const absl::StatusOr<std::string> library = FindCudaLibrary();
    if (library.ok()) TellWorkers(*library);
    return library.status();
  };
  machine.driver = [] { return CheckGpuDriver(); };
  return machine;
}

absl::StatusOr<Devices> ChooseDevices(const std::string& flag, const GpuMachine& machine) {
  if (flag == "cpu") return Devices{};
  std::vector<int> ordinals;
  if (flag != "auto") {
    OPENSET_ASSIGN_OR_RETURN(ordinals, OrdinalsIn(flag));
  }
  absl::StatusOr<std::vector<Gpu>> gpus = machine.gpus();
  if (absl::IsNotFound(gpus.status())) gpus = std::vector<Gpu>{};
  if (flag == "auto") {
    if ((gpus.ok() && gpus->empty()) || !machine.library().ok()) return Devices{};
    OPENSET_RETURN_IF_ERROR(gpus.status());
    OPENSET_RETURN_IF_ERROR(machine.driver());
    OPENSET_ASSIGN_OR_RETURN(ordinals, Usable(*gpus));
  } else {
    OPENSET_RETURN_IF_ERROR(gpus.status());
    for (const int ordinal : ordinals) {
      if (ordinal < gpus->size()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("there is no GPU ", ordinal, "; the driver shows ", Listed(*gpus)));
    }
    OPENSET_RETURN_IF_ERROR(machine.library());
    OPENSET_RETURN_IF_ERROR(machine.driver());
  }
  for (const int ordinal : ordinals) {
    const Gpu& gpu = (*gpus)[ordinal];
    OPENSET_RETURN_IF_ERROR(CheckGpu(gpu));
    if (gpu.name == (*gpus)[ordinals[0]].name) continue;
    return absl::InvalidArgumentError(absl::StrCat("the GPUs are of different kinds: ", Listed(*gpus),
                                                   "; choose one kind, because each gives other numbers"));
  }
  return Devices{ExecutionSpec::CUDA, ordinals, (*gpus)[ordinals[0]].name};
}

}  // namespace openset
