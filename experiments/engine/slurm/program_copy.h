// The program as it was when tasks were submitted to Slurm.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_PROGRAM_COPY_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_PROGRAM_COPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/store/store.h"

namespace openset {

// Tasks run what was submitted, whatever is built before they start: the files of the program lie in the store,
//
//   programs/<sha256>/program.runfiles/   laid out as its runfiles (core/files/runfiles.h): so it finds its worker and
//                                         what it reads, and they their libraries ($ORIGIN/../_solib_...)
//   programs/<sha256>/files.sha256        SHA-256 and path of each copied file, as sha256sum writes them
//   programs/<sha256>/linked              the same of each other file
//
// under the SHA-256 of files.sha256, which has a line for `linked` too: the same program is there once, and its name
// says what each of its files holds. There are no other files.
//
// Files of kLinkedBytes or more are LibTorch and packaged data, from repositories that are pinned by SHA-256: a build
// leaves them as they are, and copies would take gigabytes. They are linked: where the store is on their file system by
// a hard link, which outlasts a change of the pin; else by their path. That another file is there by then, their
// SHA-256 tells. A node computes it once, and remembers it in ~/.cache/openset/programs by device, inode, size and
// times of the last change of content and of inode, of which nobody can set the last one. A program that is itself so
// large is linked too, and where only its path can be, tasks refuse what a build puts there.
struct ProgramCopy {
  std::string folder;   // absolute; "": none
  std::string sha256;   // the folder's name
  std::string program;  // the path of the program in it
};

inline constexpr int64_t kLinkedBytes = 24'000'000;

// Copies the program, whose own path (links resolved) is `program`, and all else below `runfiles` into the store,
// unless it is there; what is there and damaged is made again. `others` are files that it runs from elsewhere
// (absolute paths; a worker of one's own): they stay where they are, and count as what is copied does.
// Errors: kFailedPrecondition if the program is not there any more, or changes meanwhile; kNotFound for a file that
// can't be read; kUnavailable for what can't be written.
absl::StatusOr<ProgramCopy> CopyProgram(const Store& store, const std::string& runfiles, const std::string& program,
                                        const std::vector<std::string>& others = {});

// Whether all of it is as it was, and nothing is there beside it. Errors: kFailedPrecondition with the first file that
// is not; those of CaptureOutput().
absl::Status CheckProgram(const ProgramCopy& copy);

// The same in bash: prints what is wrong, one line, or nothing, of the folder $program, whose name is $sha256.
extern const char kCheckProgram[];

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_PROGRAM_COPY_H_
