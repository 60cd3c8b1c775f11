// Files that come with a program: its Bazel runfiles.
#ifndef OPENSET_CORE_FILES_RUNFILES_H_
#define OPENSET_CORE_FILES_RUNFILES_H_

#include <string>

#include "absl/status/statusor.h"

namespace openset {

// The folder of this program's runfiles, with a subfolder for each repository ("openset", "fashion_mnist", ...): the
// running test's, PROGRAM.runfiles, or the runfiles folder that contains the program. Errors: kNotFound.
absl::StatusOr<std::string> RunfilesFolder();

// The path of this program.
std::string ProgramPath();

}  // namespace openset

#endif  // OPENSET_CORE_FILES_RUNFILES_H_
