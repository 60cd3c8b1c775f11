#include "core/files/formats/safetensors.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

using Json = nlohmann::json;

constexpr char kMetadata[] = "__metadata__";
constexpr uint64_t kMaxHeaderSize = 100'000'000;
constexpr int kPrefixSize = 8;

struct TypeInfo {
  const char* name;
  int size;
};

// Indexed by ArrayType.
constexpr TypeInfo kTypes[] = {{"I64", 8}, {"F64", 8}, {"F32", 4}, {"I32", 4}, {"BF16", 2},
                               {"F16", 2}, {"I16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}};

std::string Describe(const std::string& name) { return absl::StrCat("array '", absl::Utf8SafeCEscape(name), "'"); }

// Returns the bytes of an array. Errors: kInvalidArgument if they exceed an int64.
absl::StatusOr<int64_t> ByteSize(ArrayType type, const std::vector<int64_t>& shape) {
  int64_t size = SizeOf(type);
  for (const int64_t extent : shape) {
    if (extent < 0) return absl::InvalidArgumentError("a negative extent");
    if (__builtin_mul_overflow(size, extent, &size)) {
      return absl::InvalidArgumentError(absl::StrCat("[", absl::StrJoin(shape, ", "), "] is too large"));
    }
  }
  return size;
}

// A number that is a non-negative int64.
bool ReadInteger(const Json& json, int64_t* value) {
  if (!json.is_number_unsigned() || json.get<uint64_t>() > uint64_t{INT64_MAX}) return false;
  *value = json.get<int64_t>();
  return true;
}

bool ReadIntegers(const Json& json, std::vector<int64_t>* values) {
  if (!json.is_array()) return false;
  values->resize(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    if (!ReadInteger(json[i], &(*values)[i])) return false;
  }
  return true;
}

absl::Status ReadMetadata(const Json& json, std::map<std::string, std::string>* metadata) {
  if (!json.is_object()) return absl::DataLossError("__metadata__ is not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      return absl::DataLossError(absl::StrCat("__metadata__ '", absl::Utf8SafeCEscape(key), "' is not a text"));
    }
    (*metadata)[key] = value.get<std::string>();
  }
  return absl::OkStatus();
}

struct Extent {
  int64_t begin;
  int64_t end;
  std::string name;
};

// Reads one entry of the header, which `data_size` bytes follow; the array's data is left to the caller.
absl::Status ReadEntry(const Json& json, uint64_t data_size, ArrayView* array, Extent* extent) {
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") || !json["dtype"].is_string() ||
      !json.contains("shape") || !json.contains("data_offsets")) {
    return absl::DataLossError("its entry is not {\"dtype\": TEXT, \"shape\": [...], \"data_offsets\": [...]}");
  }
  const std::string type = json["dtype"].get<std::string>();
  const auto found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&type](const TypeInfo& info) { return type == info.name; });
  if (found == std::end(kTypes)) {
    return absl::UnimplementedError(absl::StrCat("the dtype '", absl::Utf8SafeCEscape(type), "' is not supported"));
  }
  array->type = static_cast<ArrayType>(found - std::begin(kTypes));
  if (!ReadIntegers(json["shape"], &array->shape)) return absl::DataLossError("its shape is not a list of sizes");
  std::vector<int64_t> offsets;
  if (!ReadIntegers(json["data_offsets"], &offsets) || offsets.size() != 2 || offsets[0] > offsets[1]) {
    return absl::DataLossError("its data_offsets are not [begin, end] with begin <= end");
  }
  extent->begin = offsets[0];
  extent->end = offsets[1];
  if (static_cast<uint64_t>(extent->end) > data_size) {
    return absl::DataLossError(absl::StrCat("its data ends at byte ", extent->end, " of ", data_size,
                                            ": the file is cut short or its header is wrong"));
  }
  const absl::StatusOr<int64_t> size = ByteSize(array->type, array->shape);
  if (!size.ok()) return absl::DataLossError(size.status().message());
  if (*size != extent->end - extent->begin) {
    return absl::DataLossError(absl::StrCat(type, " [", absl::StrJoin(array->shape, ", "), "] takes ", *size,
                                            " bytes, but its data_offsets span ", extent->end - extent->begin));
  }
  return absl::OkStatus();
}

// The arrays must tile the data.
absl::Status CheckExtents(std::vector<Extent> extents, int64_t data_size) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  int64_t end = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != end) {
      return absl::DataLossError(absl::StrCat(
          Describe(extent.name), ": its data begins at byte ", extent.begin,
          extent.begin < end ? ", inside the array before it, which ends at " : ", after a gap that begins at ", end));
    }
    end = extent.end;
  }
  if (end != data_size) {
    return absl::DataLossError(absl::StrCat("the arrays take ", end, " bytes, but ", data_size, " follow the header"));
  }
  return absl::OkStatus();
}

// The deepest nesting of a header: entries, and the lists in them.
constexpr int kMostDepth = 3;

// Finds duplicate names, which the parser accepts, and lists in lists, which no header has. (With the parser's own
// callback, the time would grow with the square of the number of names.)
class NameCheck : public nlohmann::json_sax<Json> {
 public:
  // A name that occurs twice; "" if none does.
  const std::string& duplicate() const { return duplicate_; }
  bool is_too_deep() const { return is_too_deep_; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(size_t /*size*/) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(size_t /*size*/) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& name) override {
    if (depth_ == 1 && !names_.insert(name).second) duplicate_ = name;
    return true;
  }
  bool parse_error(size_t /*place*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;  // the parser that follows reports it
  }

 private:
  bool Enter() {
    is_too_deep_ = ++depth_ > kMostDepth;
    return !is_too_deep_;
  }
  bool Leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  bool is_too_deep_ = false;
  std::set<std::string> names_;
  std::string duplicate_;
};

// Returns the header as JSON, discarded if it is invalid. Sets `duplicate` to a name that occurs twice.
Json ParseHeader(absl::string_view header, std::string* duplicate) {
  NameCheck names;
  Json::sax_parse(header.begin(), header.end(), &names);
  *duplicate = names.duplicate();
  if (names.is_too_deep()) return Json(Json::value_t::discarded);
  return Json::parse(header.begin(), header.end(), nullptr, /*allow_exceptions=*/false);
}

// Returns the size of the header according to the first bytes of a file of `file_bytes`.
absl::StatusOr<uint64_t> HeaderSize(absl::string_view begin, uint64_t file_bytes) {
  if (begin.size() < kPrefixSize) {
    return absl::DataLossError(absl::StrCat(begin.size(), " bytes are too few for a safetensors file"));
  }
  uint64_t size = 0;
  for (int i = 0; i < kPrefixSize; ++i) size |= uint64_t{static_cast<unsigned char>(begin[i])} << (8 * i);
  if (size > kMaxHeaderSize) {
    return absl::DataLossError(
        absl::StrCat("the header claims ", size, " bytes (at most ", kMaxHeaderSize, "); is it a safetensors file?"));
  }
  if (size > file_bytes - kPrefixSize) {
    return absl::DataLossError(
        absl::StrCat("cut short: the header claims ", size, " bytes, but only ", file_bytes - kPrefixSize, " follow"));
  }
  return size;
}

// Fills `content` from the header, without the arrays' data. Returns the data's ranges in the bytes after the header.
absl::StatusOr<std::vector<Extent>> ReadHeader(absl::string_view text, uint64_t data_size, Safetensors* content) {
  std::string duplicate;
  const Json header = ParseHeader(text, &duplicate);
  if (text.empty() || text[0] != '{' || !header.is_object()) {
    return absl::DataLossError("the header is not a JSON object");
  }
  if (!duplicate.empty()) return absl::DataLossError(absl::StrCat(Describe(duplicate), " occurs twice in the header"));
  std::vector<Extent> extents;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      OPENSET_RETURN_IF_ERROR(ReadMetadata(entry, &content->metadata));
      continue;
    }
    Extent extent;
    extent.name = name;
    OPENSET_RETURN_IF_ERROR(Annotate(ReadEntry(entry, data_size, &content->arrays[name], &extent), Describe(name)));
    extents.push_back(std::move(extent));
  }
  OPENSET_RETURN_IF_ERROR(CheckExtents(extents, data_size));
  return extents;
}

}  // namespace

absl::string_view NameOf(ArrayType type) { return kTypes[static_cast<int>(type)].name; }

int64_t SizeOf(ArrayType type) { return kTypes[static_cast<int>(type)].size; }

absl::StatusOr<std::string> EncodeSafetensors(const Safetensors& content) {
  std::vector<std::pair<ArrayType, std::string>> order;
  for (const auto& [name, array] : content.arrays) {
    if (name == kMetadata) return absl::InvalidArgumentError("an array can't be named '__metadata__'");
    if (!IsUtf8(name)) return absl::InvalidArgumentError(absl::StrCat("a name is not UTF-8: '", OneLine(name), "'"));
    const absl::StatusOr<int64_t> size = ByteSize(array.type, array.shape);
    if (!size.ok()) return Annotate(size.status(), Describe(name));
    if (*size != array.data.size()) {
      return absl::InvalidArgumentError(absl::StrCat(Describe(name), ": ", NameOf(array.type), " [",
                                                     absl::StrJoin(array.shape, ", "), "] takes ", *size,
                                                     " bytes, but has ", array.data.size()));
    }
    order.emplace_back(array.type, name);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [key, value] : content.metadata) {
    if (IsUtf8(key) && IsUtf8(value)) continue;
    return absl::InvalidArgumentError(absl::StrCat("metadata text is not UTF-8: '", OneLine(key), "'"));
  }

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!content.metadata.empty()) header[kMetadata] = content.metadata;
  int64_t end = 0;
  for (const auto& [type, name] : order) {
    const ArrayView& array = content.arrays.at(name);
    const int64_t begin = end;
    end += array.data.size();
    header[name] = {{"dtype", NameOf(type).data()}, {"shape", array.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = JsonText(header);
  text.append((kPrefixSize - text.size() % kPrefixSize) % kPrefixSize, ' ');
  if (text.size() > kMaxHeaderSize) {
    return absl::InvalidArgumentError(absl::StrCat("a header of ", text.size(), " bytes; at most ", kMaxHeaderSize));
  }

  std::string bytes;
  bytes.reserve(kPrefixSize + text.size() + end);
  for (int i = 0; i < kPrefixSize; ++i) bytes += static_cast<char>(uint64_t{text.size()} >> (8 * i));
  bytes += text;
  for (const auto& [type, name] : order) {
    const absl::string_view data = content.arrays.at(name).data;
    bytes.append(data.data(), data.size());
  }
  return bytes;
}

absl::StatusOr<Safetensors> DecodeSafetensors(absl::string_view bytes) {
  OPENSET_ASSIGN_OR_RETURN(const uint64_t header_size, HeaderSize(bytes, bytes.size()));
  const absl::string_view data = bytes.substr(kPrefixSize + header_size);
  Safetensors content;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Extent> extents,
                           ReadHeader(bytes.substr(kPrefixSize, header_size), data.size(), &content));
  for (const Extent& extent : extents) {
    content.arrays[extent.name].data = data.substr(extent.begin, extent.end - extent.begin);
  }
  return content;
}

absl::Status CheckSafetensorsBeginning(absl::string_view begin, int64_t file_bytes) {
  OPENSET_ASSIGN_OR_RETURN(const uint64_t header_size, HeaderSize(begin, file_bytes));
  const absl::string_view text = begin.substr(kPrefixSize, header_size);
  if (text.size() < header_size) {
    return text[0] == '{' ? absl::OkStatus() : absl::DataLossError("the header is not a JSON object");
  }
  Safetensors unused;
  return ReadHeader(text, file_bytes - kPrefixSize - header_size, &unused).status();
}

}  // namespace openset
