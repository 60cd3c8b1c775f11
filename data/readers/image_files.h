// Images in files of their own, decoded when they are read.
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

// The life of it: files are added one by one, in the order of the samples; then it is read as any ImageSource is, in as
// many threads as there are processors. Errors of Read, with the file: kNotFound, and kDataLoss as DecodeImage.
class ImageFiles final : public ImageSource {
 public:
  // `folder`: that of each class, in the order of the class ids, or one for all. `shape`: 1 or 3 channels, which every
  // image is brought to; if it has a height and width, an image of another size is an error of Read. `part`: the name
  // of the one group. `exif_orientation`: images are turned as a JPEG file says.
  ImageFiles(std::vector<std::string> folder, const ImageShape& shape, const std::string& part, bool exif_orientation);

  // Takes the memory for so many files, whose names have so many bytes with a '\0' behind each.
  void Reserve(int64_t files, int64_t name_bytes);

  // `name`: the path below the folder.
  void Add(int32_t label, absl::string_view name);
  // Several of one class: `names` has each followed by '\0'.
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
