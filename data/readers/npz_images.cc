#include "data/readers/npz_images.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/formats/npy.h"
#include "core/files/formats/npz.h"
#include "core/status_macros.h"

namespace openset {
namespace {

absl::StatusOr<NpyArray> ReadArray(const std::string& path, const std::string& name) {
  OPENSET_ASSIGN_OR_RETURN(NpzArrays arrays, ReadNpz(path, {name}));
  const auto found = arrays.find(name);
  if (found == arrays.end()) return absl::DataLossError(absl::StrCat(path, ": has no array '", name, "'"));
  return std::move(found->second);
}

}  // namespace

absl::StatusOr<ImageSet> ReadNpzImages(const std::string& images_path, const std::string& labels_path,
                                       const std::string& images, const std::string& labels) {
  OPENSET_ASSIGN_OR_RETURN(const NpyArray pixels, ReadArray(images_path, images));
  const std::vector<int64_t>& shape = pixels.shape;
  const int64_t channels = shape.size() == 4 ? shape[3] : 1;
  if (pixels.descr != "|u1" || (shape.size() != 3 && shape.size() != 4) || (channels != 1 && channels != 3)) {
    return absl::DataLossError(absl::StrCat(images_path, ": array '", images, "' is ", pixels.descr, " [",
                                            absl::StrJoin(shape, ", "), "], not |u1 [N, height, width] or [N, height, ",
                                            "width, 1 or 3]"));
  }
  if (pixels.size() == 0) {
    return absl::DataLossError(
        absl::StrCat(images_path, ": array '", images, "' [", absl::StrJoin(shape, ", "), "] is empty"));
  }
  OPENSET_ASSIGN_OR_RETURN(const NpyArray ids, ReadArray(labels_path, labels));
  const bool is_list = ids.shape.size() == 1 || (ids.shape.size() == 2 && ids.shape[1] == 1);
  if (!is_list || ids.shape[0] != shape[0]) {
    return absl::DataLossError(absl::StrCat(labels_path, ": array '", labels, "' is [", absl::StrJoin(ids.shape, ", "),
                                            "], not a label for each of ", shape[0], " images"));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ToInt64(ids), labels_path, ": array '", labels, "'");
  ImageSet set{channels, shape[1], shape[2], {}, {}};
  for (const int64_t value : values) {
    if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
      return absl::DataLossError(absl::StrCat(labels_path, ": array '", labels, "': label ", set.labels.size(), " (",
                                              value, ") is not a class id"));
    }
    set.labels.push_back(static_cast<int32_t>(value));
  }
  set.pixels.resize(pixels.data.size());
  const int64_t size = set.height * set.width;
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t p = 0; p < size; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        set.pixels[(n * channels + c) * size + p] = static_cast<uint8_t>(pixels.data[(n * size + p) * channels + c]);
      }
    }
  }
  return set;
}

}  // namespace openset
