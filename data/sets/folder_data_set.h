// Makes a catalog entry for a folder of images that is in no catalog.
#ifndef OPENSET_DATA_SETS_FOLDER_DATA_SET_H_
#define OPENSET_DATA_SETS_FOLDER_DATA_SET_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"

namespace openset {

// The prefix of such a data set's name in tasks: "folder:/data/dtd".
inline constexpr absl::string_view kFolderPrefix = "folder:";

struct FolderRequest {
  std::string name;  // of the data set
  std::string path;  // absolute
  // For folders that are not divided into parts: FolderShare in data/catalog.proto.
  double test_share = 0.2;
  uint64_t seed = 0;
  std::set<std::string> skip;  // images to leave out, as "CLASS/FILE"
};

// Returns the catalog entry of a folder. Lists the folder, but reads no image. The folder contains one folder for each
// class; classes are in the order of the bytes of their names, and folders without images are ignored. If there are
// folders "train" and "test" (or "val"), these contain the folders of the classes and are the parts "train" and "test";
// the classes are those of "train". Otherwise the parts are "train" and "test", which share each class's images, and
// "all". Images have 3 channels, each its own size, and are rotated as their EXIF data says. The entry contains the
// digest of the listing, so that changed files count as other data. Errors: kNotFound if the folder does not exist;
// kInvalidArgument if its path is not absolute, if no folder in it has images, or if a test folder has a class that
// "train" lacks.
absl::StatusOr<DataSetInfo> DescribeFolder(const FolderRequest& request);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_FOLDER_DATA_SET_H_
