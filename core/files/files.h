// Reads whole files, and writes them atomically: durably, or without syncing.
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

// The path from the root, without ".", ".." and repeated slashes. Links are not followed. Empty for an empty path.
std::string AbsolutePath(const std::string& path);

// The default limit of ReadFile(): far more than the largest file of weights.
inline constexpr int64_t kMaxFileBytes = int64_t{1} << 34;

// Returns the content of a file. Errors: a read error (core/files/system_calls.h); kDataLoss also if the file has more
// than `max_bytes`, for which no memory is allocated; kResourceExhausted also if it doesn't fit in memory.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes = kMaxFileBytes);

// The same for a file that a user names on the command line, which may be a pipe (see OpenGivenFile()).
absl::StatusOr<std::string> ReadGivenFile(const std::string& path, int64_t max_bytes = kMaxFileBytes);

// Whether there is an entry of this name, following links. Errors: a read error other than kNotFound.
absl::StatusOr<bool> LookForFile(const std::string& path);

// The same, but also true if the system can't tell: whatever then opens the file reports the reason. False for a name
// that no file can have.
bool FileExists(const std::string& path);

// The size in bytes; 0 if there is no file, or if the system doesn't tell its size.
int64_t FileSize(const std::string& path);

// Contracts call these codes "a write error"; its message names the path, never a temporary file:
//   kUnavailable: the system's reason, such as a full disk, no permission, or no such folder
//   kPermissionDenied: a link below a closed folder (CloseFolders() in core/files/system_calls.h)
//   kInvalidArgument: a pipe or a device would be replaced

// Creates a folder and its parents, durably. Succeeds if it exists. Errors: a write error.
absl::Status MakeFolders(const std::string& path);

// Returns the sorted names of a folder's entries. Errors: a read error, of which only kNotFound says that there is no
// such folder; kInvalidArgument also if it is not a folder.
absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path);

// Writes `content` to `path`, atomically and durably: readers, also after a power cut, see the old file or the new one,
// never a partial one. The folder must exist. Errors: a write error. A failed write leaves no files.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view content);

// Like WriteFileAtomically(), but never replaces a file: if `path` exists, returns false and leaves it unchanged. The
// temporary file is in the folder `temporaries`, which must be on the same file system, or next to `path` if that is
// "". Errors: a write error.
absl::StatusOr<bool> CreateFileAtomically(const std::string& path, absl::string_view content,
                                          const std::string& temporaries = "");

// The same two for files about running processes, which need not survive a power cut: atomic, but never synced.
// `temporary` is the path of the temporary file, which must be on the same file system. Errors: a write error.
absl::Status WriteNonDurableFile(const std::string& path, absl::string_view content, const std::string& temporary);
absl::StatusOr<bool> CreateNonDurableFile(const std::string& path, absl::string_view content,
                                          const std::string& temporary);

// Creates the empty file `temporary` for a library that opens its output file by name, so that nobody else can put a
// link or a file there. It will be renamed to `path`. Errors: a write error; kUnavailable also if `temporary` exists.
absl::Status ReserveFile(const std::string& temporary, const std::string& path);

// Renames `file` to `path`, in the same folder, durably, and replaces what is there. Errors: a write error.
absl::Status MoveFile(const std::string& file, const std::string& path);

// Moves a folder to `target`, durably, if its content is durable already (SyncFolder()). If `target` exists and is not
// an empty folder, returns false and leaves both unchanged. Errors: a write error.
absl::StatusOr<bool> MoveFolder(const std::string& folder, const std::string& target);

// Makes the files in a folder durable, with their names. Errors: a read or write error.
absl::Status SyncFolder(const std::string& path);

// Returns a name for a temporary file next to `path` that no other process uses:
// PATH.tmp.<host>.<ProcessSpace()>.<pid>.<number> (core/machine/machine.h).
std::string TemporaryName(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FILES_H_
