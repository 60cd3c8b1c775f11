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

// The content of a file. Errors: kNotFound if there is none, kInvalidArgument if it is a folder, kPermissionDenied if
// it may not be read, kDataLoss if reading fails.
absl::StatusOr<std::string> ReadFile(const std::string& path);

bool FileExists(const std::string& path);

// Its bytes; 0 for what is not there or no file.
int64_t FileSize(const std::string& path);

// For what is to be a file, before it is opened: a reader would wait for a pipe's other end. Errors: kDataLoss for a
// pipe or a device.
absl::Status RefusePipe(const std::string& path);

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
