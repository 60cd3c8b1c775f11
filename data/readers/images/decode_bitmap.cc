#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "core/status_macros.h"
#include "core/text/little_endian.h"
#include "data/readers/images/decoders.h"

namespace openset {
namespace {

uint8_t ByteAt(absl::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

uint32_t LittleEndian16(absl::string_view bytes) { return ByteAt(bytes, 0) | ByteAt(bytes, 1) << 8; }

// A channel of a 16-bit or 32-bit pixel: its bits, shifted to the right, are 0 to `most`.
struct Channel {
  int shift = 0;
  uint32_t most = 0;

  explicit Channel(uint32_t mask) {
    while (mask != 0 && (mask & 1) == 0) mask >>= 1, ++shift;
    most = mask;
  }
  uint8_t Of(uint32_t pixel) const {
    return most == 0 ? 0 : static_cast<uint8_t>(uint64_t{(pixel >> shift) & most} * 255 / most);
  }
};

class BmpDecoder {
 public:
  explicit BmpDecoder(absl::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<Interleaved> Run() {
    OPENSET_RETURN_IF_ERROR(ReadHeader());
    OPENSET_RETURN_IF_ERROR(ReadPalette());
    const size_t begin = LittleEndian32(bytes_.substr(10));
    if (begin > bytes_.size()) return Damaged("its pixels begin after its end");
    const absl::string_view data = bytes_.substr(begin);
    image_ = {3, height_, width_, {}};
    if (compression_ == kRle8 || compression_ == kRle4) {
      image_.pixels.resize(3 * height_ * width_);
      OPENSET_RETURN_IF_ERROR(UnpackRuns(data));
      return std::move(image_);
    }
    const int64_t row_bytes = (width_ * bits_ + 31) / 32 * 4;
    // The last row may lack its padding.
    const int64_t needed = row_bytes * (height_ - 1) + (width_ * bits_ + 7) / 8;
    if (static_cast<int64_t>(data.size()) < needed) {
      return Damaged(absl::StrCat("cut short at byte ", bytes_.size(), " of ", begin + needed));
    }
    image_.pixels.resize(3 * height_ * width_);
    for (int64_t y = 0; y < height_; ++y) UnpackRow(data.substr(y * row_bytes), y);
    return std::move(image_);
  }

 private:
  enum Compression : uint32_t { kPlain = 0, kRle8 = 1, kRle4 = 2, kFields = 3, kFieldsWithAlpha = 6 };

  absl::Status Damaged(absl::string_view what) const { return DamagedImageStatus("BMP", what); }

  absl::Status ReadHeader() {
    constexpr size_t kFileHeader = 14;
    if (bytes_.size() < kFileHeader + 12) return Damaged(absl::StrCat("cut short at byte ", bytes_.size()));
    header_size_ = LittleEndian32(bytes_.substr(kFileHeader));
    const absl::string_view header = bytes_.substr(kFileHeader);
    const bool is_os2 = header_size_ == 12;
    if (!is_os2 && (header_size_ < 40 || header_size_ > 1024)) {
      return Damaged(absl::StrCat("its header claims ", header_size_, " bytes"));
    }
    if (header.size() < header_size_) return Damaged(absl::StrCat("cut short at byte ", bytes_.size()));
    if (is_os2) {
      width_ = LittleEndian16(header.substr(4));
      height_ = LittleEndian16(header.substr(6));
      bits_ = static_cast<int>(LittleEndian16(header.substr(10)));
    } else {
      width_ = static_cast<int32_t>(LittleEndian32(header.substr(4)));
      const int64_t height = static_cast<int32_t>(LittleEndian32(header.substr(8)));
      from_top_ = height < 0;
      height_ = std::abs(height);
      bits_ = static_cast<int>(LittleEndian16(header.substr(14)));
      compression_ = LittleEndian32(header.substr(16));
      colours_ = LittleEndian32(header.substr(32));
    }
    const bool runs = (compression_ == kRle8 && bits_ == 8) || (compression_ == kRle4 && bits_ == 4);
    const bool fields = (compression_ == kFields || compression_ == kFieldsWithAlpha) && (bits_ == 16 || bits_ == 32);
    const bool plain =
        compression_ == kPlain && (bits_ == 1 || bits_ == 4 || bits_ == 8 || bits_ == 16 || bits_ == 24 || bits_ == 32);
    if (!runs && !fields && !plain) {
      return Damaged(absl::StrCat("of ", bits_, " bits and compression ", compression_, ", which is not read"));
    }
    // Two bytes of a run are at most 255 pixels; rows of runs may end early.
    OPENSET_RETURN_IF_ERROR(CheckImageSize("BMP", height_, width_,
                                           (runs ? 1024 : 8) * static_cast<int64_t>(bytes_.size()), kFileHeader + 4));
    palette_at_ = kFileHeader + header_size_;
    if (bits_ == 16) mask_ = {0x7c00, 0x3e0, 0x1f};
    if (bits_ == 32) mask_ = {0xff0000, 0xff00, 0xff};
    if (!fields) return absl::OkStatus();
    // The masks follow the smallest header, and are part of the larger ones.
    constexpr size_t kMasks = kFileHeader + 40;
    if (bytes_.size() < kMasks + 12) return Damaged(absl::StrCat("cut short at byte ", bytes_.size()));
    for (size_t c = 0; c < 3; ++c) mask_[c] = LittleEndian32(bytes_.substr(kMasks + 4 * c));
    return absl::OkStatus();
  }

  absl::Status ReadPalette() {
    if (bits_ > 8) return absl::OkStatus();
    const size_t bytes_each = header_size_ == 12 ? 3 : 4;
    const uint32_t all = 1u << bits_;
    const uint32_t count = colours_ == 0 ? all : std::min(colours_, all);
    if (bytes_.size() < palette_at_ + count * bytes_each) {
      return Damaged(absl::StrCat("cut short at byte ", bytes_.size()));
    }
    for (uint32_t i = 0; i < count; ++i) {
      for (size_t c = 0; c < 3; ++c) palette_[i][c] = ByteAt(bytes_, palette_at_ + i * bytes_each + 2 - c);
    }
    return absl::OkStatus();
  }

  // The place of a pixel of the stored row `y`. Precondition: it is in the image.
  uint8_t* Place(int64_t y, int64_t x) { return &image_.pixels[3 * ((from_top_ ? y : height_ - 1 - y) * width_ + x)]; }

  // Precondition: `row` has the bytes of a row.
  void UnpackRow(absl::string_view row, int64_t y) {
    uint8_t* out = Place(y, 0);
    const std::array<Channel, 3> channels = {Channel(mask_[0]), Channel(mask_[1]), Channel(mask_[2])};
    for (int64_t x = 0; x < width_; ++x) {
      if (bits_ <= 8) {
        const int in_byte = 8 / bits_;
        const int shift = bits_ * (in_byte - 1 - static_cast<int>(x % in_byte));
        const int index = ByteAt(row, x / in_byte) >> shift & ((1 << bits_) - 1);
        out = std::copy(palette_[index].begin(), palette_[index].end(), out);
      } else if (bits_ == 24) {
        for (int c = 2; c >= 0; --c) *out++ = ByteAt(row, 3 * x + c);
      } else {
        const uint32_t pixel = bits_ == 16 ? LittleEndian16(row.substr(2 * x)) : LittleEndian32(row.substr(4 * x));
        for (const Channel& channel : channels) *out++ = channel.Of(pixel);
      }
    }
  }

  // Pixels that no run has are of colour 0.
  absl::Status UnpackRuns(absl::string_view data) {
    for (int64_t i = 0; i < height_ * width_; ++i) {
      std::copy(palette_[0].begin(), palette_[0].end(), &image_.pixels[3 * i]);
    }
    int64_t x = 0, y = 0;
    const auto put = [&](int index) {
      if (x < width_ && y < height_) std::copy(palette_[index].begin(), palette_[index].end(), Place(y, x));
      ++x;
    };
    const auto nibble = [&](int value, int64_t i) { return bits_ == 8 ? value : i % 2 == 0 ? value >> 4 : value & 15; };
    size_t at = 0;
    while (at + 2 <= data.size() && y < height_) {
      const int count = ByteAt(data, at), value = ByteAt(data, at + 1);
      at += 2;
      if (count > 0) {
        for (int i = 0; i < count; ++i) put(nibble(value, i));
      } else if (value == 0) {  // end of the row
        x = 0;
        ++y;
      } else if (value == 1) {  // end of the image
        return absl::OkStatus();
      } else if (value == 2) {  // a move
        if (at + 2 > data.size()) break;
        x += ByteAt(data, at);
        y += ByteAt(data, at + 1);
        at += 2;
      } else {  // `value` pixels as they are, padded to 16 bits
        const size_t length = bits_ == 8 ? value : (value + 1) / 2;
        if (at + length > data.size()) break;
        for (int i = 0; i < value; ++i) put(nibble(ByteAt(data, at + (bits_ == 8 ? i : i / 2)), i));
        at += length + length % 2;
      }
    }
    return y >= height_ ? absl::OkStatus() : Damaged(absl::StrCat("cut short at byte ", bytes_.size()));
  }

  const absl::string_view bytes_;
  size_t header_size_ = 0, palette_at_ = 0;
  int64_t width_ = 0, height_ = 0;
  bool from_top_ = false;
  int bits_ = 0;
  uint32_t compression_ = kPlain, colours_ = 0;
  std::array<uint32_t, 3> mask_ = {};
  std::array<std::array<uint8_t, 3>, 256> palette_ = {};
  Interleaved image_;
};

// Reads numbers, which blanks and comments separate.
class PnmText {
 public:
  PnmText(absl::string_view bytes, size_t at) : bytes_(bytes), at_(at) {}

  size_t at() const { return at_; }

  // Nothing if no number of up to 9 digits follows.
  std::optional<int> Number() {
    SkipBlanks();
    int value = 0, digits = 0;
    for (; at_ < bytes_.size() && absl::ascii_isdigit(bytes_[at_]) && digits < 9; ++at_, ++digits) {
      value = 10 * value + (bytes_[at_] - '0');
    }
    if (digits == 0 || (at_ < bytes_.size() && absl::ascii_isdigit(bytes_[at_]))) return std::nullopt;
    return value;
  }

  // The digits of P1 need no blanks between them.
  std::optional<int> Bit() {
    SkipBlanks();
    if (at_ >= bytes_.size() || (bytes_[at_] != '0' && bytes_[at_] != '1')) return std::nullopt;
    return bytes_[at_++] - '0';
  }

 private:
  void SkipBlanks() {
    while (at_ < bytes_.size() && (absl::ascii_isspace(bytes_[at_]) || bytes_[at_] == '#')) {
      if (bytes_[at_] == '#') {
        at_ = std::min(bytes_.find_first_of("\r\n", at_), bytes_.size());
      } else {
        ++at_;
      }
    }
  }

  const absl::string_view bytes_;
  size_t at_;
};

}  // namespace

bool IsBmp(absl::string_view bytes) { return absl::StartsWith(bytes, "BM"); }

bool IsPnm(absl::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
         (absl::ascii_isspace(bytes[2]) || bytes[2] == '#');
}

absl::StatusOr<Interleaved> DecodeBmp(absl::string_view bytes) { return BmpDecoder(bytes).Run(); }

absl::StatusOr<Interleaved> DecodePnm(absl::string_view bytes) {
  const char kind = bytes[1];
  const bool is_bits = kind == '1' || kind == '4', is_text = kind <= '3';
  const int64_t channels = kind == '3' || kind == '6' ? 3 : 1;
  PnmText text(bytes, 2);
  const auto damaged = [&](absl::string_view what) {
    return DamagedImageStatus("PNM", absl::StrCat(what, ", at byte ", text.at(), " of ", bytes.size()));
  };
  const std::optional<int> width = text.Number(), height = text.Number();
  const std::optional<int> most = is_bits ? std::optional<int>(1) : text.Number();
  if (!width.has_value() || !height.has_value() || !most.has_value()) return damaged("a number is missing");
  if (*most < 1 || *most > 65535) return damaged(absl::StrCat("its largest value is ", *most));
  OPENSET_RETURN_IF_ERROR(
      CheckImageSize("PNM", *height, *width, (kind == '4' ? 8 : 1) * static_cast<int64_t>(bytes.size()), text.at()));
  const int64_t values = channels * *height * *width;
  // Scaled as by Pillow; halves are rounded to the even number.
  const auto scaled = [&](int value) {
    const int all = std::min(value, *most) * 255, whole = all / *most, twice_rest = 2 * (all % *most);
    return static_cast<uint8_t>(whole + (twice_rest > *most || (twice_rest == *most && whole % 2 == 1) ? 1 : 0));
  };
  Interleaved image{channels, *height, *width, {}};
  if (is_text) {
    for (int64_t i = 0; i < values; ++i) {
      const std::optional<int> value = is_bits ? text.Bit() : text.Number();
      if (!value.has_value()) return damaged("a number is missing");
      image.pixels.push_back(is_bits ? 255 * (1 - *value) : scaled(*value));
    }
    return image;
  }
  // One blank, then the values; rows of bits begin with a byte.
  const absl::string_view data = bytes.substr(std::min(text.at() + 1, bytes.size()));
  const int bytes_each = *most > 255 ? 2 : 1;
  const int64_t row_bytes = is_bits ? (*width + 7) / 8 : channels * *width * bytes_each;
  if (static_cast<int64_t>(data.size()) < row_bytes * *height) {
    return damaged(absl::StrCat("its ", row_bytes * *height, " bytes of pixels are cut short"));
  }
  image.pixels.reserve(values);
  for (int64_t y = 0; y < *height; ++y) {
    const absl::string_view row = data.substr(y * row_bytes, row_bytes);
    for (int64_t i = 0; i < channels * *width; ++i) {
      image.pixels.push_back(is_bits           ? (ByteAt(row, i / 8) >> (7 - i % 8) & 1 ? 0 : 255)
                             : bytes_each == 2 ? scaled(ByteAt(row, 2 * i) << 8 | ByteAt(row, 2 * i + 1))
                                               : scaled(ByteAt(row, i)));
    }
  }
  return image;
}

}  // namespace openset
