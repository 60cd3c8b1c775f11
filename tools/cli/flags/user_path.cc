#include "tools/cli/flags/user_path.h"

#include <cstdlib>

#include "core/files/files.h"

namespace openset {

std::string UserPath(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  return folder == nullptr ? path : JoinPath(folder, path);
}

}  // namespace openset
