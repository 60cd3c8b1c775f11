#include "core/process/python.h"

#include <cstdlib>

namespace openset {

std::string PythonProgram() {
  const char* program = std::getenv("OPENSET_PYTHON");
  return program != nullptr && *program != '\0' ? program : "python3";
}

}  // namespace openset
