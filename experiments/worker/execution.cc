#include "experiments/worker/execution.h"

#include <link.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/process/gpu/cuda_library.h"
#include "core/process/gpu/gpus.h"
#include "core/tensor/torch_runtime.h"
#include "experiments/worker/cpu_precision.h"

namespace openset {
namespace {

// "NVIDIA H200"; LibTorch's "cuda:0" if the driver can't be queried.
std::string GpuName(at::Device device) {
  const absl::StatusOr<std::vector<std::string>> names = GpuNames();
  const bool known = names.ok() && device.index() >= 0 && device.index() < names->size();
  return known ? (*names)[device.index()] : device.str();
}

// The version in version.py beside the folder of the loaded library, which need not be the one that this program was
// compiled for; without that file, as in a build, they are the same.
std::string LibTorchVersion() {
  std::string library;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        if (absl::EndsWith(info->dlpi_name, "/libtorch_cpu.so")) *static_cast<std::string*>(found) = info->dlpi_name;
        return 0;
      },
      &library);
  absl::string_view folder = library;
  if (!absl::ConsumeSuffix(&folder, "/lib/libtorch_cpu.so")) return TORCH_VERSION;
  return PyTorchVersionIn(std::string(folder)).value_or(TORCH_VERSION);
}

}  // namespace

void ConfigureExecution(const ExecutionSpec& spec) {
  // Makes cuBLAS repeatable. It is read when the process first uses cuBLAS.
  static const int set = setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/1);
  static_cast<void>(set);
  at::set_num_threads(spec.threads());
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(/*enabled=*/true, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(false);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  const bool tf32 = spec.precision() == ExecutionSpec::TF32;
  context.setAllowTF32CuDNN(tf32);
  context.setAllowTF32CuBLAS(tf32);
}

PrecisionScope::PrecisionScope(const ExecutionSpec& spec, at::Device device)
    : device_(device.type()), on_(spec.precision() == ExecutionSpec::BF16) {
  if (!on_) return;
  at::autocast::set_autocast_dtype(device_, at::kBFloat16);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::increment_nesting();
}

PrecisionScope::~PrecisionScope() {
  if (!on_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, false);
}

at::MemoryFormat ImageLayout(const ExecutionSpec& spec, at::Device device) {
  const bool tensor_cores = spec.precision() == ExecutionSpec::TF32 || spec.precision() == ExecutionSpec::BF16;
  return device.is_cpu() || tensor_cores ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
}

namespace {

// LibTorch's kernels, and oneDNN's if its variables limit it to older ones: "AVX512, oneDNN AVX2".
std::string CpuKernels() {
  const std::string kernels = at::get_cpu_capability();
  const char* limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (limit == nullptr) limit = std::getenv("DNNL_MAX_CPU_ISA");
  const std::string isa = absl::AsciiStrToUpper(limit == nullptr ? "" : limit);
  const bool is_name = absl::c_all_of(isa, [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
  const bool is_limit = !isa.empty() && isa != "ALL" && isa != "DEFAULT" && isa != kernels;
  return is_name && is_limit ? absl::StrCat(kernels, ", oneDNN ", isa) : kernels;
}

}  // namespace

void DescribeExecution(const ExecutionSpec& spec, at::Device device, StageProvenance* provenance) {
  provenance->set_libtorch_version(LibTorchVersion());
  provenance->set_cpu_capability(CpuKernels());
  provenance->set_threads(spec.threads());
  if (device.is_cpu()) return;
  provenance->set_gpu(GpuName(device));
  provenance->set_gpu_driver(GpuDriverVersion());
}

absl::Status CheckDevice(const ExecutionSpec& spec, at::Device device) {
  if (device.is_cpu()) return CheckCpuPrecision(spec);
  if (spec.device_kind().empty()) return absl::OkStatus();
  const std::string name = GpuName(device);
  if (name == spec.device_kind()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the trial runs on ", spec.device_kind(), ", and ", device.str(),
                                                    " is ", name, ": give one of its kind, --devices"));
}

}  // namespace openset
