// The Python interpreter that openset uses to draw files and to find an installed PyTorch.
#ifndef OPENSET_CORE_PROCESS_PYTHON_H_
#define OPENSET_CORE_PROCESS_PYTHON_H_

#include <string>
#include <vector>

namespace openset {

// The interpreter: OPENSET_PYTHON if it is set (the Python package sets it to its own interpreter), otherwise
// "python3", which is looked up in PATH.
std::string PythonProgram();

// The arguments that run `code` in it. Nothing is imported from the current folder, in which others may have put a
// `random.py`: Python adds that folder to the path of `-c`, and it is removed before `code` runs. (`-P` needs Python
// 3.11, and `-I` leaves out PYTHONPATH and the user's packages, where PyTorch may be.)
std::vector<std::string> PythonCode(const std::string& code);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_PYTHON_H_
