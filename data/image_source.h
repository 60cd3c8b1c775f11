// Images and what is known about them: the interface through which they are read, images in memory, and several sources
// joined to one.
#ifndef OPENSET_DATA_IMAGE_SOURCE_H_
#define OPENSET_DATA_IMAGE_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace openset {

// ---- What is known about samples before their images are read.

// N samples in the order in which they are stored: 8 bytes per sample.
struct SampleIndex {
  std::vector<int32_t> label;           // [N], class ids of the data set
  std::vector<int32_t> group;           // [N], index in group_name of a sample's part; empty: all are of the first part
  std::vector<std::string> group_name;  // parts of the data set
  // [N]: samples with the same number belong together (one patient, one video); empty: every sample is its own.
  std::vector<int64_t> cluster;

  int64_t size() const { return static_cast<int64_t>(label.size()); }
};

// ---- Images in memory, as the readers return them.

// N images of one size, with their classes.
struct ImageSet {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> pixels;   // [N, C, H, W], row-major
  std::vector<int32_t> labels;   // [N], class ids of the data set
  std::vector<int64_t> cluster;  // [N], or empty (SampleIndex)

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  int64_t image_bytes() const { return channels * height * width; }
};

// ---- The interface through which the images of a data set are read.

struct Image {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> pixels;  // [C, H, W], row-major
};

// What all images of a source have in common.
struct ImageShape {
  int64_t channels = 0;  // 1 or more
  int64_t height = 0;    // height and width are 0 if the images have different sizes
  int64_t width = 0;

  // Bytes of one image; 0 if the images have different sizes.
  int64_t bytes() const { return channels * height * width; }
};

// The life of a source:
//   1. OpenPart() (data/sets/data_set.h) opens it. It then knows its samples' labels, and where their images are.
//   2. Read() returns some of the images. It may be called any number of times, from any thread.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  virtual const SampleIndex& index() const = 0;
  virtual ImageShape shape() const = 0;

  // Returns the images of `samples` (positions in the index), in that order, each of shape(). Needs memory only for the
  // result and for decoding. Errors, from images in files: a read error (core/files/system_calls.h); kDataLoss, with
  // the file, also for an image that is corrupt or of another size. Precondition: 0 <= sample < index().size().
  virtual absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const = 0;

  // Calls use(i, image) for each of `samples`, where i is its position among them, from several threads at once, and
  // returns when all calls have. Each image is used while it is in a processor's cache, and few are in memory at once.
  // `use` must not throw. If samples can't be read, returns the error of the first one; `use` may have been called for
  // any of the others.
  virtual absl::Status ReadEach(absl::Span<const int64_t> samples,
                                const std::function<void(int64_t, Image)>& use) const;

  // Returns a name by which users can find a sample: the path of its file, or "train 12": its part and its position
  // there.
  virtual std::string Describe(int64_t sample) const {
    const std::vector<std::string>& names = index().group_name;
    const int32_t group = index().group.empty() ? 0 : index().group[sample];
    return absl::StrCat(names.empty() ? "sample" : names[group], " ", sample);
  }
};

// ---- Images in memory.

// `part`: the name of the source's only group. Reading never fails.
std::shared_ptr<const ImageSource> MakeMemorySource(ImageSet set, std::string part);

// ---- Joins several parts of a data set into one source.

// The samples of all sources, one source after the other. Their groups stay separate, in the same order. Height and
// width are 0 unless all sources agree on them. Precondition: there is at least one source, and all have the same
// number of channels.
std::shared_ptr<const ImageSource> JoinSources(std::vector<std::shared_ptr<const ImageSource>> sources);

}  // namespace openset

#endif  // OPENSET_DATA_IMAGE_SOURCE_H_
