// The catalog entry of a folder of images that nobody has described.
#ifndef OPENSET_DATA_SETS_FOLDER_DATA_SET_H_
#define OPENSET_DATA_SETS_FOLDER_DATA_SET_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"

namespace openset {

// What a task calls such a data set: "folder:/data/dtd".
inline constexpr absl::string_view kFolderPrefix = "folder:";

struct FolderRequest {
  std::string name;  // of the data set
  std::string path;  // absolute
  // Of folders without parts of their own: FolderShare in data/catalog.proto.
  double test_share = 0.2;
  uint64_t seed = 0;
  std::set<std::string> skip;  // images to leave out, as "CLASS/FILE"
};

// Lists the folder; no image is read. It has a folder for each class, in the order of the bytes of their names; those
// without images are left out. Where it has the folders "train" and "test" (or "val"), these have the classes' folders
// and are the parts; the classes are those of "train". Otherwise the parts are "train" and "test", which share each
// class's images, and "all". Images are of 3 channels, each of its own size, turned as EXIF data says. The digest of
// the listing is part of the entry, so that other files are other data. Errors: kNotFound if there is no such folder;
// kInvalidArgument if its path is not absolute, if no folder in it has images, or if a test folder has a class that
// "train" lacks.
absl::StatusOr<DataSetInfo> DescribeFolder(const FolderRequest& request);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_FOLDER_DATA_SET_H_
