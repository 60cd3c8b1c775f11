// Images in separate files, decoded when they are read.
#ifndef OPENSET_DATA_READERS_IMAGE_FILES_H_
#define OPENSET_DATA_READERS_IMAGE_FILES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "data/image_source.h"

namespace openset {

// Files are added one by one, in the order of the samples. Then the object is used like any ImageSource; it reads in as
// many threads as there are processors. Errors of Read(), with the file: kNotFound, and kDataLoss as DecodeImage().
class ImageFiles final : public ImageSource {
 public:
  // `folder`: each class's folder, in the order of the class ids, or one folder for all. `shape`: 1 or 3 channels, to
  // which every image is converted; if it has a height and width, Read() fails for an image of another size. `part`:
  // the name of the only group. `exif_orientation`: rotate images as the EXIF data of a JPEG file says.
  ImageFiles(std::vector<std::string> folder, const ImageShape& shape, const std::string& part, bool exif_orientation);

  // Allocates memory for `files` files, whose names have `name_bytes` bytes in all, including a '\0' after each.
  void Reserve(int64_t files, int64_t name_bytes);

  // Adds a file. `name`: its path below the folder.
  void Add(int32_t label, absl::string_view name);
  // Adds several files of one class. Each name in `names` is followed by '\0'.
  void AddAll(int32_t label, absl::string_view names);

  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return shape_; }
  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override;
  absl::Status ReadEach(absl::Span<const int64_t> samples,
                        const std::function<void(int64_t, Image)>& use) const override;
  // The file's path.
  std::string Describe(int64_t sample) const override;

 private:
  absl::StatusOr<Image> ReadOne(int64_t sample) const;

  const std::vector<std::string> folder_;
  const ImageShape shape_;
  const bool exif_orientation_;
  SampleIndex index_;
  std::string names_;                // of all files, each followed by '\0'
  std::vector<int64_t> name_begin_;  // [N]
};

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGE_FILES_H_
