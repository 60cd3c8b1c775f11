#include "tools/cli/devices/devices.h"

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/machine/machine.h"
#include "core/process/gpu/cuda_library.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/table.h"

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
    if (absl::c_linear_search(ordinals, ordinal)) {
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

std::vector<std::string> UsableDevices(const GpuMachine& machine) {
  std::vector<std::string> names = {"cpu"};
  const absl::StatusOr<std::vector<Gpu>> gpus = machine.gpus();
  if (!gpus.ok() || gpus->empty() || !machine.library().ok() || !machine.driver().ok()) return names;
  for (size_t i = 0; i < gpus->size(); ++i) {
    if (CheckGpu((*gpus)[i]).ok()) names.push_back(absl::StrCat("cuda:", i));
  }
  return names;
}

namespace {

std::string Gigabytes(int64_t bytes) {
  const int64_t tenths = (bytes * 10 + (int64_t{1} << 29)) >> 30;
  return absl::StrCat(tenths / 10, ".", tenths % 10, " GB");
}

}  // namespace

DeviceFacts ThisMachine() { return {CpuName(), MachineMemoryMb(), GpuDriverVersion(), ThisGpuMachine()}; }

std::string DeviceList(const DeviceFacts& facts) {
  Table table;
  table.header = {"device", "name", "memory", "compute capability", "can be used"};
  table.left_columns = 2;
  table.rows.push_back({"cpu", facts.cpu, Gigabytes(facts.memory_mb << 20), "", "yes"});
  std::vector<std::string> lines;
  const absl::StatusOr<std::vector<Gpu>> gpus = facts.gpu.gpus();
  if (!gpus.ok()) {
    lines.push_back(absl::IsNotFound(gpus.status())
                        ? "No GPU: there is no driver (libcuda.so.1)."
                        : absl::StrCat("The GPUs can't be used: ", gpus.status().message(), "."));
  } else if (gpus->empty()) {
    lines.push_back("No GPU: the driver shows none.");
  } else {
    // Whether all GPUs can be used.
    bool all = true;
    for (const absl::Status& status : {facts.gpu.library(), facts.gpu.driver()}) {
      if (status.ok()) continue;
      all = false;
      lines.push_back(absl::StrCat("The GPUs can't be used: ", status.message(), "."));
    }
    for (size_t i = 0; i < gpus->size(); ++i) {
      const Gpu& gpu = (*gpus)[i];
      const absl::Status own = CheckGpu(gpu);
      table.rows.push_back({absl::StrCat("cuda:", i), gpu.name, Gigabytes(gpu.memory_bytes),
                            absl::StrCat(gpu.compute_major, ".", gpu.compute_minor), all && own.ok() ? "yes" : "no"});
      if (!own.ok()) lines.push_back(absl::StrCat("cuda:", i, " can't be used: ", own.message(), "."));
    }
    if (!facts.driver.empty()) lines.push_back(absl::StrCat("The GPUs' driver is ", facts.driver, "."));
  }
  if (gpus.ok() && !gpus->empty()) {
    const absl::StatusOr<Devices> chosen = ChooseDevices("auto", facts.gpu);
    if (chosen.ok()) {
      const std::string what = chosen->cuda.empty() ? "the CPU" : absl::StrCat("each ", chosen->kind);
      lines.push_back(absl::StrCat("--devices=auto, the default, is ", what, "."));
    } else {
      lines.push_back(absl::StrCat("--devices=auto, the default, is refused: ", chosen.status().message(), "."));
    }
  }
  std::string text = ToText(table);
  for (const std::string& line : lines) absl::StrAppend(&text, OneLine(line), "\n");
  return text;
}

}  // namespace openset
