// Images in files of their own, a folder for each class.
#ifndef OPENSET_DATA_READERS_IMAGE_FOLDER_H_
#define OPENSET_DATA_READERS_IMAGE_FOLDER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

// The images of all classes, one class after the other, in the order of the bytes of their names: files directly in the
// class's folder whose names end in .png, .jpg, .jpeg or .webp (in any case) and do not start with a dot. Nothing is
// decoded before Read, which decodes in as many threads as there are processors.
//
// `class_folder`: paths in the order of the class ids. `shape`: 1 or 3 channels, which every image is brought to; if it
// has a height and width, an image of another size is an error of Read. `part`: the name of the one group.
// Errors: kNotFound for a folder that is not there. Of Read, with the file: kNotFound, and kDataLoss as DecodeImage.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageFolder(const std::vector<std::string>& class_folder,
                                                                   const ImageShape& shape, const std::string& part);

// SHA-256, in hexadecimal, over a line "CLASS_FOLDER/FILE SIZE" for each of the images below `root`, in the order of
// OpenImageFolder: tells whether a file is missing, new or cut short without reading any.
absl::StatusOr<std::string> ListingDigest(const std::string& root, const std::vector<std::string>& class_folder);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGE_FOLDER_H_
