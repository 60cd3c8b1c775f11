// Where the images of a data set are read from.
#ifndef OPENSET_DATA_IMAGE_SOURCE_H_
#define OPENSET_DATA_IMAGE_SOURCE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "data/sample_index.h"

namespace openset {

struct Image {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> pixels;  // [C, H, W], row-major
};

// What the images of a source have in common.
struct ImageShape {
  int64_t channels = 0;  // 1 or more
  int64_t height = 0;    // 0, as the width: each image has its own size
  int64_t width = 0;

  // Of one image; 0 where each has its own size.
  int64_t bytes() const { return channels * height * width; }
};

// The life of a source:
//   1. It is opened (OpenPart in data_set.h): it knows its samples' labels, and where their images are.
//   2. Read gives the images of some of them, any number of times, from any thread.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  virtual const SampleIndex& index() const = 0;
  virtual ImageShape shape() const = 0;

  // The images of `samples` (places in the index), in that order, each of shape(). No more is held than what is
  // returned and what its decoding takes. Errors: kNotFound or kDataLoss, with the file, for one that is gone or
  // damaged. Precondition: 0 <= sample < index().size().
  virtual absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const = 0;

  // Calls use(i, image) for each of `samples`, i its place among them, from several threads at once, and returns when
  // all are done: so that an image is used while it is in a processor's memory, and few are held. `use` must not throw.
  // Errors: those of Read, of the first sample that has one; for how many others `use` was called is not said.
  virtual absl::Status ReadEach(absl::Span<const int64_t> samples,
                                const std::function<void(int64_t, Image)>& use) const;

  // What people find a sample by: its file's path, or "train 12", its part and its place there.
  virtual std::string Describe(int64_t sample) const {
    const std::vector<std::string>& names = index().group_name;
    const int32_t group = index().group.empty() ? 0 : index().group[sample];
    return absl::StrCat(names.empty() ? "sample" : names[group], " ", sample);
  }
};

}  // namespace openset

#endif  // OPENSET_DATA_IMAGE_SOURCE_H_
