#include "data/augment/pixels/pixel_ops_launcher.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/tensor/torch.h"
// LibTorch comes first, because core/logging.h replaces its macros.
#include "core/logging.h"

namespace openset {
namespace {

// Null, with the loader's message in `problem`, if it can't be loaded.
PixelOpsLauncher LauncherIn(const std::string& library, std::string* problem) {
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = loaded == nullptr ? nullptr : dlsym(loaded, "OpensetLaunchPixelOps");
  if (function == nullptr) *problem = dlerror();
  return reinterpret_cast<PixelOpsLauncher>(function);
}

}  // namespace

PixelOpsLauncher FindPixelOpsLauncher() {
  std::string problem;
  if (const char* named = std::getenv("OPENSET_PIXEL_KERNEL"); named != nullptr && *named != '\0') {
    if (std::string(named) == "none") return nullptr;
    const PixelOpsLauncher launcher = LauncherIn(named, &problem);
    TORCH_CHECK(launcher != nullptr, "OPENSET_PIXEL_KERNEL: ", problem);
    return launcher;
  }
  const absl::StatusOr<std::string> runfiles = RunfilesFolder();
  if (!runfiles.ok()) return nullptr;
  const std::string own = JoinPath(*runfiles, "openset/data/augment/pixels/libpixel_ops_kernel.so");
  if (!FileExists(own)) return nullptr;
  const PixelOpsLauncher launcher = LauncherIn(own, &problem);
  if (launcher == nullptr) LOG(WARNING) << "the CPU augments images, because the kernel can't be loaded: " << problem;
  return launcher;
}

}  // namespace openset
