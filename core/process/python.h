// The Python that openset calls for what Python does better: drawing files, finding an installed PyTorch.
#ifndef OPENSET_CORE_PROCESS_PYTHON_H_
#define OPENSET_CORE_PROCESS_PYTHON_H_

#include <string>

namespace openset {

// The interpreter: OPENSET_PYTHON where it is set (the Python package sets it to its own interpreter), else "python3",
// to be looked for in PATH.
std::string PythonProgram();

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_PYTHON_H_
