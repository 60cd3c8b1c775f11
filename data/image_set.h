// Images in memory, as the readers return them.
#ifndef OPENSET_DATA_IMAGE_SET_H_
#define OPENSET_DATA_IMAGE_SET_H_

#include <cstdint>
#include <vector>

namespace openset {

// N images of one size, with their classes.
struct ImageSet {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> pixels;  // [N, C, H, W], row-major
  std::vector<int32_t> labels;  // [N], class ids of the data set

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  int64_t image_bytes() const { return channels * height * width; }
};

}  // namespace openset

#endif  // OPENSET_DATA_IMAGE_SET_H_
