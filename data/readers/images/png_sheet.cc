#include "data/readers/images/png_sheet.h"

#include <spng.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "data/readers/images/png_input.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

// The limits on the files' sizes: a hundred times the largest published ones.
constexpr int64_t kMaxLabelBytes = int64_t{1} << 28;
constexpr int64_t kMaxSheetBytes = int64_t{1} << 32;

// Returns "FILE:LINE" for the position of a byte in the text.
std::string PlaceOf(const std::string& path, const std::string& text, size_t byte) {
  const auto end = text.begin() + static_cast<int64_t>(std::min(byte, text.size()));
  return absl::StrCat(path, ":", 1 + std::count(text.begin(), end, '\n'));
}

// Returns where element `index` of a valid JSON array begins.
size_t PlaceOfElement(const std::string& text, size_t index) {
  int depth = 0;
  bool in_text = false;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_text) {
      if (c == '\\') ++at;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    const bool begins = depth == 1 && (c == '[' || c == ',');
    if (begins && index-- == 0) break;
  }
  return text.find_first_not_of(" \t\r\n", at + 1);
}

absl::StatusOr<nlohmann::json> ParseJson(const std::string& path, const std::string& text) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const size_t at = std::min(error.byte, text.size());
    return absl::DataLossError(absl::StrCat(PlaceOf(path, text, at), ": not a JSON array of labels (at byte ", at,
                                            " of ", text.size(), "); fetch the file again"));
  } catch (const nlohmann::json::out_of_range& error) {  // a number like 1e999, whose position it does not give
    return absl::DataLossError(
        absl::StrCat(path, ": not a JSON array of labels (", error.what(), "); fetch the file again"));
  }
}

absl::StatusOr<std::vector<int32_t>> ReadLabels(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxLabelBytes));
  OPENSET_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(path, text));
  if (!json.is_array()) {
    return absl::DataLossError(absl::StrCat(path, ":1: not a JSON array of labels; fetch the file again"));
  }
  std::vector<int32_t> labels;
  labels.reserve(json.size());
  for (const nlohmann::json& element : json) {
    const int64_t label = element.is_number_integer() ? element.get<int64_t>() : -1;
    if (label < 0 || label > std::numeric_limits<int32_t>::max()) {
      return absl::DataLossError(absl::StrCat(PlaceOf(path, text, PlaceOfElement(text, labels.size())), ": label ",
                                              labels.size(), " is not a class id; fetch the file again"));
    }
    labels.push_back(static_cast<int32_t>(label));
  }
  return labels;
}

absl::Status TooManyRows(const std::string& path, int64_t rows, int64_t labels_left) {
  return absl::DataLossError(absl::StrCat(path, ": has ", rows, " rows where ", labels_left,
                                          " labels are left; sheets and labels do not belong together"));
}

// Returns the rows of a sheet of images of `pixels` pixels, at most `max_rows`, separated by colours.
absl::StatusOr<std::vector<uint8_t>> ReadSheet(const std::string& path, int64_t pixels, int64_t max_rows) {
  OPENSET_ASSIGN_OR_RETURN(const std::string content, ReadFile(path, kMaxSheetBytes));
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> png(spng_ctx_new(0), spng_ctx_free);
  if (png == nullptr) return absl::ResourceExhaustedError("no memory to decode PNG with");
  PngInput input{content};
  const auto damaged = [&](int error) {
    return absl::DataLossError(absl::StrCat(path, ": not a valid PNG (", input.Reason(error), "); fetch it again"));
  };
  // Other chunks than the image's are not needed.
  constexpr size_t kMaxChunkBytes = 1 << 20;
  if (const int error = spng_set_chunk_limits(png.get(), kMaxChunkBytes, kMaxChunkBytes)) return damaged(error);
  if (const int error = spng_set_png_stream(png.get(), &PngInput::Read, &input)) return damaged(error);
  spng_ihdr header;
  if (const int error = spng_get_ihdr(png.get(), &header)) return damaged(error);
  if (header.color_type != SPNG_COLOR_TYPE_TRUECOLOR || header.bit_depth != 8 ||
      header.interlace_method != SPNG_INTERLACE_NONE || header.width != pixels) {
    return absl::DataLossError(absl::StrCat(path, ": not a sheet, which is 8-bit RGB without interlacing and ", pixels,
                                            " pixels wide (is ", header.width, " wide)"));
  }
  if (header.height > max_rows) return TooManyRows(path, header.height, max_rows);
  if (const int error = spng_decode_image(png.get(), nullptr, 0, SPNG_FMT_RGB8, SPNG_DECODE_PROGRESSIVE)) {
    return damaged(error);
  }
  std::vector<uint8_t> row(3 * pixels), all;
  for (int64_t y = 0; y < header.height; ++y) {
    const int error = spng_decode_row(png.get(), row.data(), row.size());
    if (error != 0 && error != SPNG_EOI) return damaged(error);
    const size_t begin = all.size();
    all.resize(begin + row.size());
    uint8_t* out = &all[begin];
    for (int colour = 0; colour < 3; ++colour) {
      for (int64_t i = 0; i < pixels; ++i) *out++ = row[3 * i + colour];
    }
  }
  if (const int error = spng_decode_chunks(png.get())) return damaged(error);
  return all;
}

}  // namespace

absl::StatusOr<ImageSet> ReadPngSheets(const std::vector<std::string>& sheet_paths, const std::string& labels_path,
                                       int64_t height, int64_t width) {
  ImageSet set;
  set.channels = 3;
  set.height = height;
  set.width = width;
  OPENSET_ASSIGN_OR_RETURN(set.labels, ReadLabels(labels_path));
  const auto count = static_cast<int64_t>(sheet_paths.size());
  std::vector<absl::StatusOr<std::vector<uint8_t>>> sheets(count);
  InParallel(count, [&](int64_t i) { sheets[i] = ReadSheet(sheet_paths[i], height * width, set.size()); });
  size_t bytes = 0;
  for (const auto& sheet : sheets) bytes += sheet.ok() ? sheet->size() : 0;
  set.pixels.reserve(bytes);
  for (int64_t i = 0; i < count; ++i) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<uint8_t> sheet, std::move(sheets[i]));
    const int64_t left = set.size() - static_cast<int64_t>(set.pixels.size()) / set.image_bytes();
    const int64_t rows = static_cast<int64_t>(sheet.size()) / set.image_bytes();
    if (rows > left) return TooManyRows(sheet_paths[i], rows, left);
    set.pixels.insert(set.pixels.end(), sheet.begin(), sheet.end());
  }
  const int64_t rows = set.pixels.size() / set.image_bytes();
  if (rows != set.size() || rows == 0) {
    return absl::DataLossError(absl::StrCat(labels_path, " has ", set.size(), " labels, the sheets have ", rows,
                                            " rows; sheets and labels do not belong together"));
  }
  return set;
}

}  // namespace openset
