#include "data/readers/mat.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/little_endian.h"
#include "data/readers/gzip.h"

namespace openset {
namespace {

constexpr size_t kHeaderBytes = 128;

// Types of stored data. ValueBytes() returns the number of bytes of a value, 0 for other types.
enum : uint32_t { kInt8 = 1, kUint8 = 2, kInt32 = 5, kUint32 = 6, kMatrix = 14, kCompressed = 15 };
size_t ValueBytes(uint32_t type) {
  switch (type) {
    case kInt8:
    case kUint8:
      return 1;
    case 3:  // int16
    case 4:  // uint16
      return 2;
    case kInt32:
    case kUint32:
    case 7:  // single
      return 4;
    case 9:   // double
    case 12:  // int64
    case 13:  // uint64
      return 8;
    default:
      return 0;
  }
}

constexpr uint32_t kUint8Class = 9;
constexpr uint32_t kComplexFlag = 0x800;

struct Element {
  uint32_t type = 0;
  absl::string_view data;
};

// Reads the elements of a block of bytes, one after another.
class Elements {
 public:
  // `place` describes the block in errors.
  Elements(absl::string_view bytes, size_t begin, std::string place)
      : bytes_(bytes), at_(begin), place_(std::move(place)) {}

  bool done() const { return at_ >= bytes_.size(); }

  absl::Status Damaged(absl::string_view what) const {
    return absl::DataLossError(absl::StrCat(place_, " at byte ", at_, ": ", what, "; fetch the file again"));
  }

  absl::StatusOr<Element> Next() {
    const size_t left = bytes_.size() - at_;
    if (left < 8) return Damaged("the file ends within an element's tag");
    const uint32_t first = LittleEndian32(bytes_.substr(at_));
    Element element;
    if (first >> 16 != 0) {  // small: type, length and data in 8 bytes
      const uint32_t length = first >> 16;
      if (length > 4) return Damaged("a small element claims more than 4 bytes");
      element = {first & 0xffff, bytes_.substr(at_ + 4, length)};
      at_ += 8;
      return element;
    }
    const uint32_t length = LittleEndian32(bytes_.substr(at_ + 4));
    if (length > left - 8) {
      return Damaged(absl::StrCat("an element claims ", length, " bytes, ", left - 8, " are left"));
    }
    element = {first, bytes_.substr(at_ + 8, length)};
    at_ += 8 + size_t{length};
    // Compressed elements are not padded.
    if (element.type != kCompressed) at_ += (8 - length % 8) % 8;
    return element;
  }

 private:
  const absl::string_view bytes_;
  size_t at_;
  const std::string place_;
};

struct Array {
  uint32_t type = 0;
  bool is_complex = false;
  std::vector<int64_t> sizes;
  uint32_t stored_type = 0;
  absl::string_view data;
};

// Reads the array in `matrix` if its name is a key of `wanted`, and sets that key's value.
absl::Status ReadArray(absl::string_view matrix, const std::string& place,
                       std::map<std::string, std::optional<Array>>* wanted) {
  Elements elements(matrix, 0, place);
  OPENSET_ASSIGN_OR_RETURN(const Element flags, elements.Next());
  if (flags.type != kUint32 || flags.data.size() != 8)
    return elements.Damaged("an array does not begin with its flags");
  OPENSET_ASSIGN_OR_RETURN(const Element sizes, elements.Next());
  if (sizes.type != kInt32 || sizes.data.size() % 4 != 0) return elements.Damaged("an array's sizes are missing");
  OPENSET_ASSIGN_OR_RETURN(const Element name, elements.Next());
  if (name.type != kInt8) return elements.Damaged("an array's name is missing");
  const auto found = wanted->find(std::string(name.data));
  if (found == wanted->end()) return absl::OkStatus();
  Array array;
  array.type = LittleEndian32(flags.data) & 0xff;
  array.is_complex = (LittleEndian32(flags.data) & kComplexFlag) != 0;
  for (size_t i = 0; i < sizes.data.size(); i += 4) {
    array.sizes.push_back(static_cast<int32_t>(LittleEndian32(sizes.data.substr(i))));
  }
  OPENSET_ASSIGN_OR_RETURN(const Element values, elements.Next());
  array.stored_type = values.type;
  array.data = values.data;
  const size_t value_bytes = ValueBytes(values.type);
  if (value_bytes == 0) return elements.Damaged(absl::StrCat("array '", name.data, "' does not hold numbers"));
  // The product of the sizes or, where it would overflow, a number above the size of the data.
  uint64_t declared = value_bytes;
  for (const int64_t size : array.sizes) {
    if (size <= 0) return elements.Damaged(absl::StrCat("array '", name.data, "' has a size of ", size));
    if (declared <= values.data.size()) declared *= static_cast<uint64_t>(size);
  }
  if (declared != values.data.size()) {
    return elements.Damaged(absl::StrCat("array '", name.data, "' of ", absl::StrJoin(array.sizes, " x "),
                                         " values has ", values.data.size(), " bytes of data"));
  }
  found->second = std::move(array);
  return absl::OkStatus();
}

template <typename T>
double ValueAs(absl::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return static_cast<double>(value);
}

double ValueAt(const Array& array, size_t i) {
  const absl::string_view bytes = array.data.substr(i * ValueBytes(array.stored_type));
  switch (array.stored_type) {
    case kInt8:
      return ValueAs<int8_t>(bytes);
    case kUint8:
      return ValueAs<uint8_t>(bytes);
    case 3:
      return ValueAs<int16_t>(bytes);
    case 4:
      return ValueAs<uint16_t>(bytes);
    case kInt32:
      return ValueAs<int32_t>(bytes);
    case kUint32:
      return ValueAs<uint32_t>(bytes);
    case 7:
      return ValueAs<float>(bytes);
    case 9:
      return ValueAs<double>(bytes);
    case 12:
      return ValueAs<int64_t>(bytes);
    default:
      return ValueAs<uint64_t>(bytes);
  }
}

absl::Status FillImages(const Array& array, ImageSet* set) {
  if (array.type != kUint8Class || array.stored_type != kUint8 || array.is_complex || array.sizes.size() != 4) {
    return absl::DataLossError(absl::StrCat("not an array of unsigned bytes [height, width, channels, samples] (has ",
                                            array.sizes.size(), " sizes)"));
  }
  set->height = array.sizes[0];
  set->width = array.sizes[1];
  set->channels = array.sizes[2];
  set->pixels.resize(array.data.size());
  const int64_t height = set->height, width = set->width, planes = set->channels * array.sizes[3];
  const auto* in = reinterpret_cast<const uint8_t*>(array.data.data());
  uint8_t* out = set->pixels.data();
  for (int64_t plane = 0; plane < planes; ++plane, in += height * width, out += height * width) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t y = 0; y < height; ++y) out[y * width + x] = in[x * height + y];
    }
  }
  return absl::OkStatus();
}

absl::Status FillLabels(const Array& array, size_t samples, ImageSet* set) {
  const size_t values = array.data.size() / ValueBytes(array.stored_type);
  if (values != samples) return absl::DataLossError(absl::StrCat("has ", values, " labels for ", samples, " images"));
  for (size_t i = 0; i < values; ++i) {
    const double label = ValueAt(array, i);
    if (!(label >= 0) || label > std::numeric_limits<int32_t>::max() || label != std::floor(label)) {
      return absl::DataLossError(absl::StrCat("label ", i, " is not a class id"));
    }
    set->labels.push_back(static_cast<int32_t>(label));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ImageSet> ReadMat(const std::string& path, const std::string& images, const std::string& labels,
                                 int64_t max_bytes) {
  OPENSET_ASSIGN_OR_RETURN(const std::string content, ReadFile(path, kMaxMatBytes));
  if (content.size() < kHeaderBytes) {
    return absl::DataLossError(absl::StrCat(path, ": ", content.size(), " bytes are too few for the ", kHeaderBytes,
                                            " of a MATLAB file's header; fetch the file again"));
  }
  const absl::string_view magic = absl::string_view(content).substr(124, 4);
  if (magic != absl::string_view("\0\1IM", 4)) {
    return absl::DataLossError(absl::StrCat(path,
                                            ": bytes 124 to 127 are not those of a little-endian MATLAB file of "
                                            "version 5; is it another file, or saved with -v7.3?"));
  }
  std::map<std::string, std::optional<Array>> wanted = {{images, {}}, {labels, {}}};
  std::vector<std::unique_ptr<std::string>> inflated;  // contain the arrays
  int64_t left_bytes = max_bytes;                      // for all inflated elements together
  Elements elements(content, kHeaderBytes, path);
  while (!elements.done()) {
    OPENSET_ASSIGN_OR_RETURN(Element element, elements.Next());
    std::string place = path;
    if (element.type == kCompressed) {
      const size_t at = element.data.data() - content.data();
      place = absl::StrCat(path, ": in the compressed array at byte ", at, ",");
      absl::StatusOr<std::string> bytes = InflateZlib(element.data, left_bytes);
      if (!bytes.ok()) return Annotate(bytes.status(), absl::StrCat(path, " at byte ", at));
      left_bytes -= static_cast<int64_t>(bytes->size());
      inflated.push_back(std::make_unique<std::string>(*std::move(bytes)));
      OPENSET_ASSIGN_OR_RETURN(element, Elements(*inflated.back(), 0, place).Next());
    }
    if (element.type == kMatrix) OPENSET_RETURN_IF_ERROR(ReadArray(element.data, place, &wanted));
  }
  for (const auto& [name, array] : wanted) {
    if (!array.has_value()) return absl::DataLossError(absl::StrCat(path, ": has no array '", name, "'"));
  }
  ImageSet set;
  OPENSET_RETURN_IF_ERROR(FillImages(*wanted[images], &set), path, ": array '", images, "'");
  OPENSET_RETURN_IF_ERROR(FillLabels(*wanted[labels], wanted[images]->sizes[3], &set), path, ": array '", labels, "'");
  return set;
}

}  // namespace openset
