// A copy of the program as it was when tasks were submitted to Slurm.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_PROGRAM_COPY_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_PROGRAM_COPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/store/store.h"

namespace openset {

// Slurm tasks run the program as it was submitted, even if it is rebuilt before they start. Its files are copied into
// the store:
//
//   programs/<sha256>/program.runfiles/   laid out like its runfiles (core/files/runfiles.h): the program finds its
//                                         worker and data there, and both find their libraries
//                                         ($ORIGIN/../_solib_...)
//   programs/<sha256>/files.sha256        SHA-256 and path of each copied file, in sha256sum's format
//   programs/<sha256>/linked              the same for each other file
//
// <sha256> is the SHA-256 of files.sha256, which has a line for `linked` too: a program is stored once, and the
// folder's name identifies the content of all its files. The folder contains no other files.
//
// Files of kLinkedBytes or more are LibTorch and packaged data, from repositories that are pinned by SHA-256: a build
// does not change them, and copies would take gigabytes. They are linked instead: by a hard link if the store is on the
// same file system, which survives a change of the pin; else by a symbolic link. If the file is replaced later, its
// SHA-256 reveals it. A node computes the SHA-256 of a linked file once, and caches it in ~/.cache/openset/programs by
// device, inode, size and times of the last change of content and of inode; the last one can't be set by users. A
// program that is itself this large is linked too; if only a symbolic link is possible, tasks refuse to run a rebuilt
// program.
struct ProgramCopy {
  std::string folder;   // absolute; "": there is no copy
  std::string sha256;   // the folder's name
  std::string program;  // the path of the program in it
};

inline constexpr int64_t kLinkedBytes = 24'000'000;

// Copies the program, whose path (links resolved) is `program`, and everything else below `runfiles` into the store,
// unless it is already there; corrupt copies are replaced. `others` are files outside of the runfiles that the program
// runs (absolute paths, such as the user's own worker): they stay where they are, and are checked like copied files.
// Errors: kFailedPrecondition if the program no longer exists, or changes during the copy; kNotFound if the runfiles
// can't be listed; a read error (core/files/system_calls.h) for another file; a write error (core/files/files.h).
absl::StatusOr<ProgramCopy> CopyProgram(const Store& store, const std::string& runfiles, const std::string& program,
                                        const std::vector<std::string>& others = {});

// Checks that all files of the copy are unchanged and that there are no others. Errors: kFailedPrecondition with the
// first file that is wrong; kNotFound if bash is not installed; kDeadlineExceeded if the check takes two minutes;
// kAborted if it fails.
absl::Status CheckProgram(const ProgramCopy& copy);

// The same check in bash, for the folder $program, whose name is $sha256: prints what is wrong in one line, or nothing.
extern const char kCheckProgram[];

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_PROGRAM_COPY_H_
