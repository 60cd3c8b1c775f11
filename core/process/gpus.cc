#include "core/process/gpus.h"

#include <dlfcn.h>

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

template <typename Function>
absl::StatusOr<Function*> Find(void* library, const std::string& path, const char* name) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) return absl::UnavailableError(absl::StrCat(path, " has no ", name));
  return reinterpret_cast<Function*>(symbol);
}

absl::Status Refused(const char* function, int result) {
  return absl::UnavailableError(absl::StrCat("the GPU's driver answers ", function, " with error ", result));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> GpuNames(const std::string& path) {
  // Never closed: the driver keeps threads of its own.
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return absl::NotFoundError(absl::StrCat("no GPU driver: ", dlerror()));
  OPENSET_ASSIGN_OR_RETURN(auto* init, Find<int(unsigned)>(library, path, "cuInit"));
  OPENSET_ASSIGN_OR_RETURN(auto* count_devices, Find<int(int*)>(library, path, "cuDeviceGetCount"));
  OPENSET_ASSIGN_OR_RETURN(auto* get_device, (Find<int(int*, int)>(library, path, "cuDeviceGet")));
  OPENSET_ASSIGN_OR_RETURN(auto* get_name, (Find<int(char*, int, int)>(library, path, "cuDeviceGetName")));
  const int started = init(0);
  if (started == kNoDevice) return std::vector<std::string>{};
  if (started != kSuccess) return Refused("cuInit", started);
  int count = 0;
  if (const int result = count_devices(&count); result != kSuccess) return Refused("cuDeviceGetCount", result);
  std::vector<std::string> names;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0;
    char name[256] = "";
    if (const int result = get_device(&device, ordinal); result != kSuccess) return Refused("cuDeviceGet", result);
    if (const int result = get_name(name, sizeof(name), device); result != kSuccess) {
      return Refused("cuDeviceGetName", result);
    }
    names.push_back(name);
  }
  return names;
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
