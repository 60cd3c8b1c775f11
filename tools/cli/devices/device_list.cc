#include "tools/cli/devices/device_list.h"

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/machine/machine.h"
#include "core/process/gpu/cuda_library.h"
#include "core/process/gpu/gpus.h"
#include "core/text/one_line.h"
#include "core/text/table.h"

namespace openset {
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
