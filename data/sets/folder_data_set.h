// Makes a catalog entry for a folder of images that is in no catalog.
#ifndef OPENSET_DATA_SETS_FOLDER_DATA_SET_H_
#define OPENSET_DATA_SETS_FOLDER_DATA_SET_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

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
  std::set<std::string> skip;  // paths of images to leave out
  bool skip_links_to_nothing = false;
  std::string clusters;      // the absolute path of a table of the images' clusters (ImageFolderFiles); "": none
  bool sub_folders = false;  // ImageFolderFiles.sub_folders
};

// Returns the catalog entry of a folder. Lists the folder, but reads no image. The folder contains one folder for each
// class; classes are in the order of the bytes of their names, and folders without images are ignored. If there are
// folders "train" and "test" (or "val"), these contain the folders of the classes and are the parts "train" and "test";
// a third one, "val", is the part "val". "train" and "test" determine the classes; one that "train" lacks can only be
// unknown. Otherwise the parts are "train" and "test", which share each class's images, and "all". A folder that
// contains images and no folders of classes is one class, with the folder's name. A class whose images are all skipped
// is left out. Images have 3 channels, each its own size, and are rotated as their EXIF data says. The entry contains
// the digest of the listing, so that changed files count as other data. Errors: a read error
// (core/files/system_calls.h), of which kNotFound says that there is no folder, that it can't be looked at, or that
// there is no table of clusters, and for an image that is a link to nothing, if they are not skipped; kInvalidArgument
// if the path is not absolute, if the folder has no images or a part has none left, for a name of a folder that no
// class can have, a malformed table of clusters, or an image that it lacks; kDataLoss if all images are skipped.
absl::StatusOr<DataSetInfo> DescribeFolder(const FolderRequest& request);

// Returns lines about what DescribeFolder() leaves out of a folder, and why: folders and files in formats that are not
// read, images in sub-folders of classes (unless they are read) and in no class's folder, links to nothing, further
// folders beside "train" and "test". Names that begin with a dot and usual companions of images (Thumbs.db) are not
// mentioned. Precondition: `info` is DescribeFolder()'s result for the folder, or has no layout.
std::vector<std::string> LeftOutLines(const std::string& folder, const DataSetInfo& info);

// Returns lines about classes without images to train on, or to test on.
std::vector<std::string> FewImagesLines(const DataSetInfo& info);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_FOLDER_DATA_SET_H_
