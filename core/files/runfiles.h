// Files that come with a program: its Bazel runfiles.
#ifndef OPENSET_CORE_FILES_RUNFILES_H_
#define OPENSET_CORE_FILES_RUNFILES_H_

#include <string>

#include "absl/status/statusor.h"

namespace openset {

// The folder that holds this program's runfiles, one folder a repository ("openset", "fashion_mnist", ...): that of a
// running test, that of the program (PROGRAM.runfiles), or the one the program itself lies in.
// Errors: kNotFound if there is none.
absl::StatusOr<std::string> RunfilesFolder();

// The path of this program.
std::string ProgramPath();

}  // namespace openset

#endif  // OPENSET_CORE_FILES_RUNFILES_H_
