#include "core/process/python.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace openset {

std::string PythonProgram() {
  const char* program = std::getenv("OPENSET_PYTHON");
  return program != nullptr && *program != '\0' ? program : "python3";
}

std::vector<std::string> PythonCode(const std::string& code) {
  // `sys` is built in. With PYTHONSAFEPATH there is no such entry.
  return {PythonProgram(), "-c", absl::StrCat("import sys\nsys.path[:] = [p for p in sys.path if p]\n", code)};
}

}  // namespace openset
