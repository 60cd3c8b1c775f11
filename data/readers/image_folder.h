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
#include "data/readers/folder_listing.h"

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

// The images of all classes, one class after the other, as ListingMemory::OfUser() lists those of each
// (data/readers/folder_listing.h). Nothing is decoded before Read (data/readers/image_files.h).
//
// `class_folder`: below `root`, in the order of the class ids; a class whose place in `is_empty` is set has no folder
// and no images (none is, if the list is empty). `shape` and `part`: as in ImageFiles. Errors: kNotFound for a folder
// that is not there or can't be read, and for a file to skip that is not there.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageFolder(const std::string& root,
                                                                   const std::vector<std::string>& class_folder,
                                                                   const ImageShape& shape, const std::string& part,
                                                                   const ImageFolderOptions& options = {},
                                                                   const std::vector<bool>& is_empty = {});

// SHA-256, in hexadecimal, over a line "CLASS_FOLDER/FILE SIZE" for each of the images below `root`, in the order of
// OpenImageFolder, those to skip and of all shares among them: tells whether a file is missing, new or cut short
// without reading any. A folder that is not there has no images. Errors: kNotFound for a folder that can't be read, and
// for an entry that is no file.
absl::StatusOr<std::string> ListingDigest(const std::string& root, const std::vector<std::string>& class_folder);
absl::StatusOr<std::string> ListingDigest(const FolderListing& listing);

// Of n images of a class, how many are in the share.
int64_t SizeOfShare(const ImageFolderOptions::Share& share, int64_t n);

// Of n images of a class in the order of their names, the places of those in the share; ascending. `class_folder`: the
// text that names the random stream.
std::vector<int64_t> PlacesOfShare(const ImageFolderOptions::Share& share, const std::string& class_folder, int64_t n);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGE_FOLDER_H_
