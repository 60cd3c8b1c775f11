// Folders below a data folder, opened so that no link below it is followed: what an archive or anybody has put there
// leads nowhere else.
#ifndef OPENSET_DATA_FETCH_FOLDER_BELOW_H_
#define OPENSET_DATA_FETCH_FOLDER_BELOW_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// An open folder; closed when it goes.
class OpenFolder {
 public:
  // `path` itself may be, or lie behind, links: it is the user's. Errors: kUnavailable.
  static absl::StatusOr<OpenFolder> Open(const std::string& path);

  OpenFolder(OpenFolder&& other) noexcept;
  OpenFolder& operator=(OpenFolder&& other) noexcept;
  ~OpenFolder();

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }  // for messages

  // The folder `name` in this one, which is made if there is none. Errors: kFailedPrecondition, with what to do, if it
  // is a link or a file; kUnavailable.
  absl::StatusOr<OpenFolder> Child(const std::string& name) const;
  // Child() by Child(); "", "." and folders "." in it stand for where they are. Errors: also kInvalidArgument for a
  // path that leaves the folder.
  absl::StatusOr<OpenFolder> Below(absl::string_view path) const;

 private:
  OpenFolder(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;
};

// Moves all that is in `from`, files and folders, into `to`, on the same file system: folders that are there already
// are filled, files of the same names, and links, replaced. Before anything moves, the whole of `from` is looked at:
// rights beyond 0775 go (set user id, set group id, writing for all). Errors: kDataLoss for anything but files of one
// name and folders (a link, a pipe, a device), `to` is then as it was; kFailedPrecondition where a folder is to come in
// the place of a link or a file, or a file in that of a folder; kUnavailable.
absl::Status MoveInto(const OpenFolder& from, const OpenFolder& to);

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_FOLDER_BELOW_H_
