// Opens folders below a data folder without following links below it, so that a link from an archive can't lead
// outside.
#ifndef OPENSET_DATA_FETCH_FOLDER_BELOW_H_
#define OPENSET_DATA_FETCH_FOLDER_BELOW_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// An open folder. The destructor closes it.
class OpenFolder {
 public:
  // Links in `path` itself are followed: the user chose it. Errors: kUnavailable.
  static absl::StatusOr<OpenFolder> Open(const std::string& path);

  OpenFolder(OpenFolder&& other) noexcept;
  OpenFolder& operator=(OpenFolder&& other) noexcept;
  ~OpenFolder();

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }  // for messages

  // Opens the folder `name` in this one, and creates it if it does not exist. Errors: kFailedPrecondition, with what to
  // do, if it is a link or a file; kUnavailable.
  absl::StatusOr<OpenFolder> Child(const std::string& name) const;
  // Opens the folder at a relative path, with Child() for each name in it; "" and "." mean the current folder. Errors:
  // also kInvalidArgument for a path that leaves this folder.
  absl::StatusOr<OpenFolder> Below(absl::string_view path) const;

 private:
  OpenFolder(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;
};

// Moves everything in `from`, files and folders, into `to`, which must be on the same file system. Existing folders are
// merged; existing files of the same names, and links, are replaced. Before anything is moved, all of `from` is
// checked, and permissions beyond 0775 are removed (set user id, set group id of files, writing for all). Errors:
// kDataLoss for anything but folders and files with one name (a link, a hard link, a pipe, a device), with `to`
// unchanged; kFailedPrecondition if a folder would replace a link or a file, or a file would replace a folder;
// kUnavailable.
absl::Status MoveInto(const OpenFolder& from, const OpenFolder& to);

// kUnavailable: "cannot WHAT PATH: ...", by errno.
absl::Status SystemError(absl::string_view what, absl::string_view path);

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_FOLDER_BELOW_H_
