// The Python interpreter that openset uses to draw files and to find an installed PyTorch.
#ifndef OPENSET_CORE_PROCESS_PYTHON_H_
#define OPENSET_CORE_PROCESS_PYTHON_H_

#include <string>

namespace openset {

// The interpreter: OPENSET_PYTHON if it is set (the Python package sets it to its own interpreter), otherwise
// "python3", which is looked up in PATH.
std::string PythonProgram();

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_PYTHON_H_
