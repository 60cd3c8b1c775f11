// Images in files of their own, a folder for each class.
#ifndef OPENSET_DATA_READERS_IMAGE_FOLDER_H_
#define OPENSET_DATA_READERS_IMAGE_FOLDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

struct ImageFolderOptions {
  // Files that are left out, as "CLASS_FOLDER/FILE", with the folders as they are given.
  std::set<std::string> skip;
  // Only a share of each class (FolderShare in data/catalog.proto).
  struct Share {
    uint64_t seed = 0;
    double test_share = 0.2;
    bool test = false;
  };
  std::optional<Share> share;
  bool exif_orientation = false;
};

// The images of all classes, one class after the other, in the order of the bytes of their names: files directly in the
// class's folder whose names end in .png, .jpg, .jpeg or .webp (in any case) and do not start with a dot. Nothing is
// decoded before Read (data/readers/image_files.h).
//
// `class_folder`: below `root`, in the order of the class ids; a class whose place in `is_empty` is set has no folder
// and no images (none is, if the list is empty). `shape` and `part`: as in ImageFiles. Errors: kNotFound for a folder
// that is not there, and for a file to skip that is not.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageFolder(const std::string& root,
                                                                   const std::vector<std::string>& class_folder,
                                                                   const ImageShape& shape, const std::string& part,
                                                                   const ImageFolderOptions& options = {},
                                                                   const std::vector<bool>& is_empty = {});

// SHA-256, in hexadecimal, over a line "CLASS_FOLDER/FILE SIZE" for each of the images below `root`, in the order of
// OpenImageFolder, those to skip and of all shares among them: tells whether a file is missing, new or cut short
// without reading any. A folder that is not there has no images.
absl::StatusOr<std::string> ListingDigest(const std::string& root, const std::vector<std::string>& class_folder);

// The images directly in a folder, as OpenImageFolder finds them. Errors: kNotFound.
absl::StatusOr<std::vector<std::string>> ImagesIn(const std::string& folder);

// Of n images of a class in the order of their names, the places of those in the share; ascending. `class_folder`: the
// text that names the random stream.
std::vector<int64_t> PlacesOfShare(const ImageFolderOptions::Share& share, const std::string& class_folder, int64_t n);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGE_FOLDER_H_
