// Images in separate files, in a folder for each class.
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
  // Files to leave out, as "CLASS_FOLDER/FILE", with the folders as in `class_folder`.
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

// Returns the images of all classes, one class after another, each in the order of ListingMemory::OfUser()
// (data/readers/folder_listing.h). Nothing is decoded before Read() (data/readers/image_files.h).
//
// `class_folder`: the folders below `root`, in the order of the class ids. `is_empty`: whether each class has no folder
// and no images; an empty list means that all have one. `shape` and `part`: as in ImageFiles. Errors: kNotFound if a
// folder does not exist or can't be read, or a file to skip does not exist.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageFolder(const std::string& root,
                                                                   const std::vector<std::string>& class_folder,
                                                                   const ImageShape& shape, const std::string& part,
                                                                   const ImageFolderOptions& options = {},
                                                                   const std::vector<bool>& is_empty = {});

// Returns the SHA-256, in hexadecimal, over a line "CLASS_FOLDER/FILE SIZE" for each image below `root`, in the order
// of OpenImageFolder(), including images to skip and those of all shares. It shows whether a file is missing, new or
// truncated without reading any file. A folder that does not exist has no images. Errors: kNotFound for a folder that
// can't be read, and for an entry that is not a file.
absl::StatusOr<std::string> ListingDigest(const std::string& root, const std::vector<std::string>& class_folder);
absl::StatusOr<std::string> ListingDigest(const FolderListing& listing);

// Returns how many of a class's n images are in the share.
int64_t SizeOfShare(const ImageFolderOptions::Share& share, int64_t n);

// Returns which of a class's n images are in the share: their positions in the order of the names, ascending.
// `class_folder`: the text that names the random stream.
std::vector<int64_t> PlacesOfShare(const ImageFolderOptions::Share& share, const std::string& class_folder, int64_t n);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGE_FOLDER_H_
