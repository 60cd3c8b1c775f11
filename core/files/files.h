// Files: whole-file reads, atomic and durable writes.
#ifndef OPENSET_CORE_FILES_FILES_H_
#define OPENSET_CORE_FILES_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

std::string JoinPath(absl::string_view a, absl::string_view b);

// The content of a file. Errors: kNotFound if there is none, kInvalidArgument if it is a folder, kDataLoss if reading
// fails.
absl::StatusOr<std::string> ReadFile(const std::string& path);

bool FileExists(const std::string& path);

// Makes a folder and those above it. Fine if it exists.
absl::Status MakeFolders(const std::string& path);

// Names of the entries of a folder, sorted. Errors: kNotFound.
absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path);

// Replaces `path` by `content` so that a reader, and the next start after a power cut, finds the old file or the new
// one, whole. The folder must exist. Errors: kUnavailable with the path and the system's reason; nothing is left
// behind.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view content);

// Like WriteFileAtomically, but never replaces: the first writer wins. Returns false, and leaves the file as it is, if
// `path` exists.
absl::StatusOr<bool> CreateFileAtomically(const std::string& path, absl::string_view content);

// Makes durable what has been written into a folder: its files' contents and names.
absl::Status SyncFolder(const std::string& path);

// A name for a temporary file beside `path` that no other process uses: PATH.tmp.<host>.<pid>.<number>.
std::string TemporaryName(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FILES_H_
