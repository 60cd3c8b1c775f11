#include "core/files/formats/npy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMostDimensions = 64;  // as in NumPy
// The most bytes of a header: a thousand times what NumPy writes.
constexpr size_t kMostHeadBytes = 1 << 20;

absl::Status Damaged(absl::string_view what) { return absl::DataLossError(absl::StrCat("not a .npy array: ", what)); }

// Returns the bytes of an element, or an error with the type.
absl::StatusOr<int64_t> ElementBytes(absl::string_view descr) {
  if (absl::StartsWith(descr, "|O")) {
    return absl::InvalidArgumentError(
        "array of Python objects, which only running code could read: save numbers, or texts with .astype(str)");
  }
  int64_t count = 0;
  if (descr.size() < 3 || !absl::SimpleAtoi(descr.substr(2), &count) || count < 0 || count > 1 << 24) {
    return absl::InvalidArgumentError(absl::StrCat("array of type '", descr, "' is not supported"));
  }
  const char order = descr[0], kind = descr[1];
  // A character of U has four bytes.
  if (order == '>' && count > (kind == 'U' ? 0 : 1)) {
    return absl::InvalidArgumentError("array is big-endian: save it with .astype of a native dtype");
  }
  if (kind == 'U') return 4 * count;
  if (kind == 'S') return count;
  const bool known = (kind == 'f' && (count == 2 || count == 4 || count == 8)) || (kind == 'b' && count == 1) ||
                     ((kind == 'i' || kind == 'u') && (count == 1 || count == 2 || count == 4 || count == 8));
  if (!known) {
    return absl::InvalidArgumentError(
        absl::StrCat("array of type '", descr, "' is not supported (known: f2, f4, f8, i1 to i8, u1 to u8, b1, U, S)"));
  }
  return count;
}

struct Header {
  std::string descr;
  bool column_major = false;
  std::vector<int64_t> shape;
};

// Returns the value after 'key': in a Python dict literal, up to the comma or brace that ends it. A string is without
// its quotes, a tuple has its parentheses.
std::optional<absl::string_view> DictValue(absl::string_view dict, absl::string_view key) {
  const size_t at = dict.find(absl::StrCat("'", key, "'"));
  if (at == absl::string_view::npos) return std::nullopt;
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(dict.substr(at + key.size() + 2));
  if (!absl::ConsumePrefix(&rest, ":")) return std::nullopt;
  rest = absl::StripLeadingAsciiWhitespace(rest);
  const char first = rest.empty() ? '\0' : rest[0];
  const size_t end = first == '(' ? rest.find(')') : first == '\'' ? rest.find('\'', 1) : rest.find_first_of(",}");
  if (end == absl::string_view::npos) return std::nullopt;
  if (first == '(') return rest.substr(0, end + 1);
  return first == '\'' ? rest.substr(1, end - 1) : absl::StripTrailingAsciiWhitespace(rest.substr(0, end));
}

// "()", "(6,)", "(6, 2)", "(6, 2,)"; not "6" or "(6)", which are not tuples.
absl::StatusOr<std::vector<int64_t>> ParseShape(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "(") || !absl::ConsumeSuffix(&text, ")")) return Damaged("its shape is not a tuple");
  std::vector<int64_t> shape;
  if (absl::StripAsciiWhitespace(text).empty()) return shape;
  std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() == 1) return Damaged("its shape is not a tuple");
  if (absl::StripAsciiWhitespace(parts.back()).empty()) parts.pop_back();
  if (parts.size() > kMostDimensions) return Damaged("its shape has more than 64 extents");
  for (const absl::string_view part : parts) {
    int64_t extent = 0;
    if (!absl::SimpleAtoi(part, &extent) || extent < 0) return Damaged("its shape has an element that is not a size");
    shape.push_back(extent);
  }
  return shape;
}

absl::StatusOr<Header> ParseHeader(absl::string_view dict) {
  Header header;
  const std::optional<absl::string_view> descr = DictValue(dict, "descr");
  const std::optional<absl::string_view> order = DictValue(dict, "fortran_order");
  const std::optional<absl::string_view> shape = DictValue(dict, "shape");
  if (!descr || !order || !shape) return Damaged("its header is incomplete");
  if (absl::StartsWith(*descr, "[")) return absl::InvalidArgumentError("arrays of structures are not supported");
  if (!absl::c_all_of(*descr, [](char c) { return absl::ascii_isgraph(c); })) return Damaged("its type is not text");
  header.descr = std::string(*descr);
  if (*order != "True" && *order != "False") return Damaged("its order is neither True nor False");
  header.column_major = *order == "True";
  OPENSET_ASSIGN_OR_RETURN(header.shape, ParseShape(*shape));
  return header;
}

// The header, and what it declares.
struct Head {
  Header header;
  int64_t element_bytes = 0;
  int64_t data_bytes = 0;
  int64_t data_at = 0;
};

// `given`: the first bytes of an array, with its complete header.
absl::StatusOr<Head> ParseHead(absl::string_view given) {
  absl::string_view bytes = given;
  const auto cut_short = [&] { return Damaged(absl::StrCat("it is cut short at byte ", given.size())); };
  if (!absl::ConsumePrefix(&bytes, kMagic)) return Damaged("it does not start with the magic bytes");
  if (bytes.size() < 4) return cut_short();
  const int major = static_cast<uint8_t>(bytes[0]);
  if (major < 1 || major > 3) return Damaged(absl::StrCat("version ", major, ", at byte ", kMagic.size()));
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < 2 + length_bytes) return cut_short();
  size_t header_length = 0;
  for (size_t i = 0; i < length_bytes; ++i) header_length |= size_t{static_cast<uint8_t>(bytes[2 + i])} << (8 * i);
  bytes.remove_prefix(2 + length_bytes);
  const size_t header_at = given.size() - bytes.size();
  if (header_at + header_length > kMostHeadBytes) {
    return Damaged(absl::StrCat("its header has ", header_length, " bytes, more than the ", kMostHeadBytes, " it may"));
  }
  if (bytes.size() < header_length) return cut_short();
  absl::StatusOr<Header> parsed = ParseHeader(bytes.substr(0, header_length));
  if (absl::IsDataLoss(parsed.status())) {
    return absl::DataLossError(absl::StrCat(parsed.status().message(), ", at byte ", header_at));
  }
  Head head;
  OPENSET_ASSIGN_OR_RETURN(head.header, std::move(parsed));
  head.data_at = static_cast<int64_t>(header_at + header_length);
  OPENSET_ASSIGN_OR_RETURN(head.element_bytes, ElementBytes(head.header.descr));
  head.data_bytes = head.element_bytes;
  for (const int64_t extent : head.header.shape) {
    if (extent > 0 && head.data_bytes > std::numeric_limits<int64_t>::max() / extent) {
      return Damaged("its shape is too large");
    }
    head.data_bytes *= extent;
  }
  // There could be any number of elements without bytes.
  if (head.element_bytes == 0 && absl::c_find(head.header.shape, 0) == head.header.shape.end()) {
    return absl::InvalidArgumentError("array of texts without characters");
  }
  return head;
}

// Whether an array of `bytes` bytes is as long as its header says.
absl::Status CheckLength(const Head& head, int64_t bytes) {
  if (bytes - head.data_at == head.data_bytes) return absl::OkStatus();
  return Damaged(absl::StrCat("its header (type ", head.header.descr, ", shape ", absl::StrJoin(head.header.shape, "x"),
                              ") asks for ", head.data_bytes, " bytes and it has ", bytes - head.data_at, " from byte ",
                              head.data_at, " on"));
}

std::string ToRowMajor(const std::string& data, const std::vector<int64_t>& shape, int64_t element_bytes) {
  std::string result(data.size(), '\0');
  const int64_t count = element_bytes == 0 ? 0 : static_cast<int64_t>(data.size()) / element_bytes;
  std::vector<int64_t> index(shape.size(), 0);  // of the element at row-major place `to`
  for (int64_t to = 0; to < count; ++to) {
    int64_t from = 0;
    for (size_t d = shape.size(); d-- > 0;) from = from * shape[d] + index[d];
    std::memcpy(&result[to * element_bytes], &data[from * element_bytes], element_bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return result;
}

// IEEE 754 binary16, with its own exponent range, infinities and NaN; a float can represent every value.
struct Half {
  uint16_t bits;

  explicit operator float() const {
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    float magnitude = 0;
    if (exponent == 31) {
      magnitude = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
      magnitude = std::ldexp(static_cast<float>(fraction), -24);
    } else {
      magnitude = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    }
    return (bits >> 15) != 0 ? -magnitude : magnitude;
  }
};

// The elements, each converted from its own C++ type, halves from float.
template <typename To>
absl::StatusOr<std::vector<To>> ToReal(const NpyArray& array) {
  const auto all = [&](auto zero) -> absl::StatusOr<std::vector<To>> {
    using From = decltype(zero);
    std::vector<To> values(array.data.size() / sizeof(From));
    for (size_t i = 0; i < values.size(); ++i) {
      From value;
      std::memcpy(&value, &array.data[i * sizeof(From)], sizeof(From));
      if constexpr (std::is_same_v<From, Half>) {
        values[i] = static_cast<To>(static_cast<float>(value));
      } else {
        values[i] = static_cast<To>(value);
      }
    }
    return values;
  };
  const absl::string_view type = absl::string_view(array.descr).substr(1);
  if (type == "f2") return all(Half{});
  if (type == "f4") return all(float{});
  if (type == "f8") return all(double{});
  if (type == "i1") return all(int8_t{});
  if (type == "i2") return all(int16_t{});
  if (type == "i4") return all(int32_t{});
  if (type == "i8") return all(int64_t{});
  if (type == "u1" || type == "b1") return all(uint8_t{});
  if (type == "u2") return all(uint16_t{});
  if (type == "u4") return all(uint32_t{});
  if (type == "u8") return all(uint64_t{});
  return absl::InvalidArgumentError(absl::StrCat("holds '", array.descr, "', not numbers"));
}

template <typename T>
NpyArray MakeNumbers(absl::string_view descr, absl::Span<const T> values, std::vector<int64_t> shape) {
  return {std::string(descr), std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}

void AppendUtf8(uint32_t c, std::string* text) {
  if (c < 0x80) {
    text->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    text->push_back(static_cast<char>(0xC0 | (c >> 6)));
    text->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    text->push_back(static_cast<char>(0xE0 | (c >> 12)));
    text->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    text->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    text->push_back(static_cast<char>(0xF0 | (c >> 18)));
    text->push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    text->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    text->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

std::vector<uint32_t> FromUtf8(const std::string& text) {
  std::vector<uint32_t> points;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    uint32_t point = more == 0 ? lead : lead & (0x3F >> more);
    for (int k = 1; k <= more && i + k < text.size(); ++k)
      point = (point << 6) | (static_cast<uint8_t>(text[i + k]) & 0x3F);
    points.push_back(point);
    i += more + 1;
  }
  return points;
}

}  // namespace

int64_t NpyArray::size() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

absl::StatusOr<NpyArray> ParseNpy(absl::string_view bytes) { return ParseOwnedNpy(std::string(bytes)); }

absl::StatusOr<NpyArray> ParseOwnedNpy(std::string bytes) {
  OPENSET_ASSIGN_OR_RETURN(Head head, ParseHead(bytes));
  OPENSET_RETURN_IF_ERROR(CheckLength(head, static_cast<int64_t>(bytes.size())));
  bytes.erase(0, head.data_at);
  NpyArray array{std::move(head.header.descr), std::move(head.header.shape), std::move(bytes)};
  if (head.header.column_major && array.shape.size() > 1) {
    array.data = ToRowMajor(array.data, array.shape, head.element_bytes);
  }
  return array;
}

absl::StatusOr<NpyArray> ReadNpy(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  std::string first(std::min<int64_t>(file.bytes(), kMostHeadBytes), '\0');
  OPENSET_ASSIGN_OR_RETURN(const size_t got, file.Read(first.data(), first.size()));
  absl::StatusOr<Head> head = ParseHead(absl::string_view(first).substr(0, got));
  if (!head.ok()) return Annotate(head.status(), path);
  OPENSET_RETURN_IF_ERROR(Annotate(CheckLength(*head, file.bytes()), path));
  OPENSET_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, file.bytes()));
  absl::StatusOr<NpyArray> array = ParseOwnedNpy(std::move(bytes));
  return array.ok() ? std::move(array) : Annotate(array.status(), path);
}

std::string FormatNpyHeader(absl::string_view descr, absl::Span<const int64_t> shape) {
  std::string header = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(shape, ", "), shape.size() == 1 ? ",), }" : "), }");
  // Magic, version and length take 10 bytes; the whole is a multiple of 64 and ends in a newline.
  const size_t unpadded = 10 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header.push_back('\n');
  std::string bytes(kMagic);
  bytes.push_back(1);
  bytes.push_back(0);
  bytes.push_back(static_cast<char>(header.size() & 0xFF));
  bytes.push_back(static_cast<char>(header.size() >> 8));
  return absl::StrCat(bytes, header);
}

std::string FormatNpy(const NpyArray& array) {
  return absl::StrCat(FormatNpyHeader(array.descr, array.shape), array.data);
}

NpyArray MakeNpy(absl::Span<const float> values, std::vector<int64_t> shape) {
  return MakeNumbers("<f4", values, std::move(shape));
}

NpyArray MakeNpy(absl::Span<const double> values, std::vector<int64_t> shape) {
  return MakeNumbers("<f8", values, std::move(shape));
}

NpyArray MakeNpy(absl::Span<const int64_t> values, std::vector<int64_t> shape) {
  return MakeNumbers("<i8", values, std::move(shape));
}

NpyArray MakeNpy(const std::vector<std::string>& texts) {
  std::vector<std::vector<uint32_t>> points;
  size_t longest = 1;
  for (const std::string& text : texts) {
    points.push_back(FromUtf8(text));
    longest = std::max(longest, points.back().size());
  }
  NpyArray array{absl::StrCat("<U", longest), {static_cast<int64_t>(texts.size())}, ""};
  for (std::vector<uint32_t>& text : points) {
    text.resize(longest);
    array.data.append(reinterpret_cast<const char*>(text.data()), 4 * longest);
  }
  return array;
}

absl::StatusOr<std::vector<float>> ToFloat(const NpyArray& array) { return ToReal<float>(array); }

absl::StatusOr<std::vector<double>> ToDouble(const NpyArray& array) { return ToReal<double>(array); }

absl::StatusOr<std::vector<int64_t>> ToInt64(const NpyArray& array) {
  if (array.descr[1] != 'f') return ToReal<int64_t>(array);
  OPENSET_ASSIGN_OR_RETURN(const std::vector<double> reals, ToDouble(array));
  constexpr double kMost = 9007199254740992;  // 2^53: a double can't represent every larger integer
  std::vector<int64_t> values;
  values.reserve(reals.size());
  for (const double value : reals) {
    if (!(std::abs(value) <= kMost) || value != std::floor(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("holds ", value, " in row ", values.size(), ", not a whole number"));
    }
    values.push_back(static_cast<int64_t>(value));
  }
  return values;
}

absl::StatusOr<std::vector<std::string>> ToTexts(const NpyArray& array) {
  const char kind = array.descr[1];
  if (kind != 'U' && kind != 'S') {
    return absl::InvalidArgumentError(absl::StrCat("holds '", array.descr, "', not texts"));
  }
  const int64_t count = array.size();
  const int64_t width = count == 0 ? 0 : static_cast<int64_t>(array.data.size()) / count;
  std::vector<std::string> texts(count);
  for (int64_t i = 0; i < count; ++i) {
    const char* element = array.data.data() + i * width;
    if (kind == 'S') {
      texts[i].assign(element, strnlen(element, width));
      continue;
    }
    for (int64_t at = 0; at < width; at += 4) {
      uint32_t point;
      std::memcpy(&point, element + at, 4);
      if (point == 0) break;
      AppendUtf8(point, &texts[i]);
    }
  }
  return texts;
}

}  // namespace openset
