// Files: whole-file reads, atomic writes, durable or passing.
#ifndef OPENSET_CORE_FILES_FILES_H_
#define OPENSET_CORE_FILES_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

std::string JoinPath(absl::string_view a, absl::string_view b);

// What ReadFile() takes into memory, far above the largest weights that it is used for.
inline constexpr int64_t kMaxFileBytes = int64_t{1} << 34;

// The content of a file. Errors: those of OpenRegularFile() (core/files/input_file.h); kDataLoss if it has more than
// `max_bytes`, which are never allocated, or reading fails.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes = kMaxFileBytes);

// The same for what a user names on the command line, which may be a pipe: see OpenGivenFile().
absl::StatusOr<std::string> ReadGivenFile(const std::string& path, int64_t max_bytes = kMaxFileBytes);

bool FileExists(const std::string& path);

// Its bytes; 0 for what is not there or no file.
int64_t FileSize(const std::string& path);

// Makes a folder and those above it, durably. Fine if it exists.
absl::Status MakeFolders(const std::string& path);

// Names of the entries of a folder, sorted. Errors: kNotFound.
absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path);

// Replaces `path` by `content` so that a reader, and the next start after a power cut, finds the old file or the new
// one, whole. The folder must exist. Errors: kUnavailable with the path (never that of a temporary file) and the
// system's reason; kInvalidArgument for a pipe or a device, which no file replaces; nothing is left behind.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view content);

// Like WriteFileAtomically, but never replaces: the first writer wins. Returns false, and leaves the file as it is, if
// `path` exists. The temporary file lies in the folder `temporaries`, on the same file system; beside `path` if that is
// "".
absl::StatusOr<bool> CreateFileAtomically(const std::string& path, absl::string_view content,
                                          const std::string& temporaries = "");

// The same two for what need not outlast a power cut, as no process does that it is about: whole for whoever reads it,
// but never synced. `temporary` is the name of the temporary file, on the same file system.
absl::Status WritePassingFile(const std::string& path, absl::string_view content, const std::string& temporary);
absl::StatusOr<bool> CreatePassingFile(const std::string& path, absl::string_view content,
                                       const std::string& temporary);

// Makes the empty file `temporary`, which is to be called `path`, for a writer that opens its file by name: nobody's
// link or file lies behind the name then. Errors: kUnavailable with `path`, also if `temporary` is there.
absl::Status ReserveFile(const std::string& temporary, const std::string& path);

// Gives a file that was written beside it the name `path`, durably; replaces what is there. Errors: kUnavailable,
// kInvalidArgument as above.
absl::Status MoveFile(const std::string& file, const std::string& path);

// Moves a folder to `target`, durably; its content must be so already (SyncFolder). Returns false, and leaves both as
// they are, if there is a `target` that is not an empty folder. Errors: kUnavailable.
absl::StatusOr<bool> MoveFolder(const std::string& folder, const std::string& target);

// Makes durable what has been written into a folder: its files' contents and names.
absl::Status SyncFolder(const std::string& path);

// A name for a temporary file beside `path` that no other process uses: PATH.tmp.<host>.<ProcessSpace()>.<pid>.<number>
// (core/process/machine.h).
std::string TemporaryName(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FILES_H_
