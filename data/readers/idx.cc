#include "data/readers/idx.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/status_macros.h"
#include "data/readers/gzip.h"

namespace openset {
namespace {

uint32_t BigEndian32(absl::string_view bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

struct IdxArray {
  std::vector<int64_t> sizes;
  std::string content;  // of the complete file
  absl::string_view data() const { return absl::string_view(content).substr(4 * (1 + sizes.size())); }
};

// Reads the array in a file. Checks that its data is as long as its sizes say.
absl::StatusOr<IdxArray> ReadArray(const std::string& path, int dimensions) {
  IdxArray array;
  OPENSET_ASSIGN_OR_RETURN(array.content, ReadPlainOrGzipped(path));
  const size_t header_bytes = 4 * (1 + dimensions);
  if (array.content.size() < header_bytes) {
    return absl::DataLossError(absl::StrCat(path, ": ", array.content.size(),
                                            " bytes are too few for an IDX header of ", dimensions,
                                            " dimensions; fetch the file again"));
  }
  const uint32_t magic = BigEndian32(array.content);
  const uint32_t wanted = 0x800 + dimensions;
  if (magic != wanted) {
    return absl::DataLossError(absl::StrFormat("%s: begins with %08x where IDX %s begin with %08x; is it another file?",
                                               path, magic, dimensions == 1 ? "labels" : "images", wanted));
  }
  const size_t data_bytes = array.content.size() - header_bytes;
  // The product of the sizes or, where it would overflow, a number above data_bytes.
  uint64_t declared = 1;
  for (int i = 0; i < dimensions; ++i) {
    const uint32_t size = BigEndian32(absl::string_view(array.content).substr(4 * (1 + i)));
    if (size == 0)
      return absl::DataLossError(absl::StrCat(path, ": dimension ", i, ", at byte ", 4 * (1 + i), ", is empty"));
    array.sizes.push_back(size);
    if (declared <= data_bytes) declared *= size;
  }
  if (declared != data_bytes) {
    return absl::DataLossError(absl::StrCat(path, ": the header declares ", absl::StrJoin(array.sizes, " x "),
                                            " bytes of data, the file has ", data_bytes, " from byte ", header_bytes,
                                            " on; fetch the file again"));
  }
  return array;
}

}  // namespace

absl::StatusOr<ImageSet> ReadIdx(const std::string& images_path, const std::string& labels_path) {
  OPENSET_ASSIGN_OR_RETURN(const IdxArray images, ReadArray(images_path, 3));
  OPENSET_ASSIGN_OR_RETURN(const IdxArray labels, ReadArray(labels_path, 1));
  if (images.sizes[0] != labels.sizes[0]) {
    return absl::DataLossError(absl::StrCat(images_path, " has ", images.sizes[0], " images but ", labels_path, " has ",
                                            labels.sizes[0], " labels; the files do not belong together"));
  }
  ImageSet set;
  set.channels = 1;
  set.height = images.sizes[1];
  set.width = images.sizes[2];
  set.pixels.assign(images.data().begin(), images.data().end());
  set.labels.reserve(labels.data().size());
  for (const char label : labels.data()) set.labels.push_back(static_cast<uint8_t>(label));
  return set;
}

}  // namespace openset
