#include "core/process/gpu/gpus.h"

#include <dlfcn.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// Results of CUDA's driver interface (CUresult).
constexpr int kSuccess = 0;
constexpr int kNoDevice = 100;
// CUdevice_attribute.
constexpr int kComputeMajor = 75, kComputeMinor = 76;
// Results of NVML (nvmlReturn_t); 0 is success here too.
constexpr int kNvmlTooSmall = 7;

// NVML's entry for a process (nvmlProcessInfo_v2_t).
struct NvmlProcess {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance, compute_instance;
};

constexpr size_t kMostProcesses = 1 << 16;

absl::Status Refused(const char* function, int result) {
  return absl::UnavailableError(absl::StrCat("the GPU's driver answers ", function, " with error ", result));
}

// Blocks all signals in the calling thread. Drivers keep threads of their own, which inherit what is blocked: one that
// took SIGINT would end the program, whatever the program's own threads do with it (core/process/interrupt.h).
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// A library that is never closed, because drivers keep their own threads.
class Library {
 public:
  static absl::StatusOr<Library> Open(const std::string& path) {
    const SignalsBlocked blocked;
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return absl::NotFoundError(absl::StrCat("no GPU driver: ", dlerror()));
    return Library(path, library);
  }

  // Calls a C function of the library that returns an int. Errors: kUnavailable if there is none, or if it does not
  // return 0.
  template <typename... Arguments>
  absl::Status Call(const char* name, Arguments... arguments) const {
    OPENSET_ASSIGN_OR_RETURN(const int result, ResultOf(name, arguments...));
    return result == kSuccess ? absl::OkStatus() : Refused(name, result);
  }

  template <typename... Arguments>
  absl::StatusOr<int> ResultOf(const char* name, Arguments... arguments) const {
    void* symbol = dlsym(library_, name);
    if (symbol == nullptr) return absl::UnavailableError(absl::StrCat(path_, " has no ", name));
    const SignalsBlocked blocked;
    return reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
  }

 private:
  Library(std::string path, void* library) : path_(std::move(path)), library_(library) {}

  std::string path_;
  void* library_;
};

// The GPU's address on the machine's bus: "0000:3B:00.0".
absl::StatusOr<std::string> BusIdOf(int gpu, const Library& cuda) {
  OPENSET_RETURN_IF_ERROR(cuda.Call("cuInit", 0u));
  int device = 0;
  OPENSET_RETURN_IF_ERROR(cuda.Call("cuDeviceGet", &device, gpu));
  char id[64] = "";
  OPENSET_RETURN_IF_ERROR(cuda.Call("cuDeviceGetPCIBusId", id, static_cast<int>(sizeof(id)), device));
  return std::string(id);
}

}  // namespace

absl::StatusOr<std::vector<Gpu>> ListGpus(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const Library cuda, Library::Open(path));
  OPENSET_ASSIGN_OR_RETURN(const int started, cuda.ResultOf("cuInit", 0u));
  if (started == kNoDevice) return std::vector<Gpu>{};
  if (started != kSuccess) return Refused("cuInit", started);
  int count = 0;
  OPENSET_RETURN_IF_ERROR(cuda.Call("cuDeviceGetCount", &count));
  std::vector<Gpu> gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0;
    char name[256] = "";
    OPENSET_RETURN_IF_ERROR(cuda.Call("cuDeviceGet", &device, ordinal));
    OPENSET_RETURN_IF_ERROR(cuda.Call("cuDeviceGetName", name, static_cast<int>(sizeof(name)), device));
    Gpu gpu{name};
    size_t bytes = 0;
    OPENSET_RETURN_IF_ERROR(cuda.Call("cuDeviceTotalMem_v2", &bytes, device));
    gpu.memory_bytes = static_cast<int64_t>(bytes);
    OPENSET_RETURN_IF_ERROR(cuda.Call("cuDeviceGetAttribute", &gpu.compute_major, kComputeMajor, device));
    OPENSET_RETURN_IF_ERROR(cuda.Call("cuDeviceGetAttribute", &gpu.compute_minor, kComputeMinor, device));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

absl::StatusOr<std::vector<std::string>> GpuNames(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Gpu> gpus, ListGpus(path));
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus) names.push_back(gpu.name);
  return names;
}

absl::StatusOr<int> GpuDriverCuda(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const Library cuda, Library::Open(path));
  int version = 0;
  OPENSET_RETURN_IF_ERROR(cuda.Call("cuDriverGetVersion", &version));
  return version;
}

absl::StatusOr<std::vector<pid_t>> GpuProcesses(int gpu, const std::string& library, const std::string& management) {
  OPENSET_ASSIGN_OR_RETURN(const Library cuda, Library::Open(library));
  OPENSET_ASSIGN_OR_RETURN(const std::string bus_id, BusIdOf(gpu, cuda));
  OPENSET_ASSIGN_OR_RETURN(const Library nvml, Library::Open(management));
  OPENSET_RETURN_IF_ERROR(nvml.Call("nvmlInit_v2"));
  void* device = nullptr;
  OPENSET_RETURN_IF_ERROR(nvml.Call("nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str(), &device));
  constexpr char kList[] = "nvmlDeviceGetComputeRunningProcesses_v3";
  std::vector<NvmlProcess> processes;
  unsigned count = 0;
  int result = kNvmlTooSmall;
  while (result == kNvmlTooSmall && processes.size() < kMostProcesses) {
    processes.resize(std::max<size_t>(16, 2 * processes.size()));
    count = static_cast<unsigned>(processes.size());
    OPENSET_ASSIGN_OR_RETURN(result, nvml.ResultOf(kList, device, &count, processes.data()));
  }
  if (result != kSuccess) return Refused(kList, result);
  std::vector<pid_t> ids;
  for (unsigned p = 0; p < count; ++p) ids.push_back(static_cast<pid_t>(processes[p].pid));
  return ids;
}

std::string GpuDriverVersionIn(const std::string& text) {
  for (absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    // Digits and dots, at least one of each.
    if (absl::ascii_isdigit(word[0]) && absl::StrContains(word, '.') &&
        word.find_first_not_of("0123456789.") == absl::string_view::npos) {
      return std::string(word);
    }
  }
  return "";
}

std::string GpuDriverVersion() { return GpuDriverVersionIn(ReadFile("/proc/driver/nvidia/version").value_or("")); }

}  // namespace openset
