#include "core/process/gpu/cuda_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/files/runfiles.h"
#include "core/process/python.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr int kCuda = 13000;
constexpr char kOldestDriver[] = "580";
constexpr int kOldestMajor = 7, kOldestMinor = 5;

constexpr char kTold[] = "OPENSET_CUDA_LIBRARY";

constexpr int64_t kMostVersionBytes = 1 << 16;

// The folder from which Python would import it; doesn't import it.
constexpr char kTorchFolder[] =
    "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')";

std::string Install() { return absl::StrCat("'pip install torch==", kLibTorchVersion, "' installs it"); }

bool IsOurs(absl::string_view version) {
  if (!absl::ConsumePrefix(&version, kLibTorchVersion)) return false;
  return version.empty() || absl::StartsWith(version, "+cu13");
}

absl::StatusOr<std::string> AskPython() {
  CaptureLimits limits;  // on a fresh machine, the first start of Python can take many seconds
  limits.bytes = kMostVersionBytes;
  const absl::StatusOr<std::string> said = CaptureOutput(PythonCode(kTorchFolder), limits);
  const std::string folder = said.ok() ? std::string(absl::StripAsciiWhitespace(*said)) : "";
  if (!folder.empty()) return CudaLibraryIn(folder);
  const std::string lacks =
      said.ok() ? " has no PyTorch" : absl::StrCat(" names no PyTorch (", said.status().message(), ")");
  return absl::NotFoundError(absl::StrCat(PythonProgram(), lacks, ", whose CUDA library is needed; ", Install(),
                                          ", or name its folder in OPENSET_TORCH"));
}

}  // namespace

absl::StatusOr<std::string> PyTorchVersionIn(const std::string& torch_folder) {
  const std::string path = JoinPath(torch_folder, "version.py");
  OPENSET_ASSIGN_OR_RETURN(const std::string content, ReadFile(path, kMostVersionBytes));
  constexpr absl::string_view kBefore = "__version__ = '";
  absl::string_view text = content;
  const size_t begin = text.find(kBefore);
  if (begin == absl::string_view::npos) return absl::NotFoundError(absl::StrCat(path, " names no version"));
  text.remove_prefix(begin + kBefore.size());
  return std::string(text.substr(0, text.find('\'')));
}

absl::StatusOr<std::string> CudaLibraryIn(const std::string& torch_folder) {
  const std::string library = JoinPath(torch_folder, "lib/libtorch_cuda.so");
  // The loader would wait for ever at a pipe.
  if (const absl::Status opened = OpenRegularFile(library).status(); absl::IsNotFound(opened)) {
    return absl::NotFoundError(
        absl::StrCat(torch_folder, " has no lib/libtorch_cuda.so: it is not a build of PyTorch for CUDA"));
  } else if (!opened.ok()) {
    return opened;
  }
  const std::string version = PyTorchVersionIn(torch_folder).value_or("");
  if (!IsOurs(version)) {
    return absl::FailedPreconditionError(
        absl::StrCat(torch_folder, " is PyTorch ", version.empty() ? "of an unknown version" : version,
                     ", and openset needs ", kLibTorchVersion, " for CUDA 13; ", Install()));
  }
  return library;
}

absl::StatusOr<std::string> FindCudaLibrary() {
  if (const char* folder = std::getenv("OPENSET_TORCH"); folder != nullptr && *folder != '\0') {
    absl::StatusOr<std::string> library = CudaLibraryIn(folder);
    if (!library.ok()) return Annotate(library.status(), "OPENSET_TORCH");
    return library;
  }
  if (const char* told = std::getenv(kTold); told != nullptr && OpenRegularFile(told).ok()) return std::string(told);
  if (const absl::StatusOr<std::string> runfiles = RunfilesFolder(); runfiles.ok()) {
    std::string built_with = JoinPath(*runfiles, "libtorch_cuda/torch/lib/libtorch_cuda.so");
    if (FileExists(built_with)) return built_with;
  }
  static const auto* const found = new absl::StatusOr<std::string>(AskPython());
  return *found;
}

void TellWorkers(const std::string& cuda_library) { setenv(kTold, cuda_library.c_str(), /*overwrite=*/1); }

absl::Status LoadCudaLibrary(const std::string& path) {
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("LibTorch's CUDA library can't be loaded: ", dlerror()));
}

absl::Status CheckGpuDriver(const std::string& library) {
  OPENSET_ASSIGN_OR_RETURN(const int cuda, GpuDriverCuda(library));
  if (cuda >= kCuda) return absl::OkStatus();
  const std::string version = GpuDriverVersion();
  return absl::FailedPreconditionError(
      absl::StrCat("the GPU's driver", version.empty() ? "" : " ", version, " can run CUDA ", cuda / 1000, ".",
                   cuda % 1000 / 10, ", and openset needs CUDA ", kCuda / 1000, ".", kCuda % 1000 / 10,
                   ": install driver ", kOldestDriver, " or later, or compute on the CPU with --devices=cpu"));
}

absl::Status CheckGpu(const Gpu& gpu) {
  if (gpu.compute_major > kOldestMajor || (gpu.compute_major == kOldestMajor && gpu.compute_minor >= kOldestMinor)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(gpu.name, " has compute capability ", gpu.compute_major, ".",
                                                    gpu.compute_minor, ", and CUDA 13 needs ", kOldestMajor, ".",
                                                    kOldestMinor, " or later"));
}

}  // namespace openset
