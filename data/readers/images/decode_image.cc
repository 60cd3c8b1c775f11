#include "data/readers/images/decode_image.h"

#include <utility>

// jpeglib.h needs it.
#include <cstdio>
//
#include <jerror.h>
#include <jpeglib.h>
#include <libexif/exif-data.h>
#include <spng.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <csetjmp>
#include <memory>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/status_macros.h"
#include "core/text/little_endian.h"
#include "data/readers/images/decoders.h"
#include "data/readers/images/png_input.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace openset {
namespace {

void SplitOneByOne(const uint8_t* pixels, int64_t count, uint8_t* red, uint8_t* green, uint8_t* blue) {
  for (int64_t i = 0; i < count; ++i, pixels += 3) {
    red[i] = pixels[0];
    green[i] = pixels[1];
    blue[i] = pixels[2];
  }
}

#if defined(__x86_64__)

#define OPENSET_SSSE3 __attribute__((target("ssse3")))

constexpr int64_t kBlock = 16;  // pixels, of 48 bytes

// The shuffle that moves the bytes of a colour from third `part` of a block's 48 bytes to their positions among the 16
// bytes of the colour; an index of 0x80 gives 0.
OPENSET_SSSE3 inline __m128i Places(int colour, int part) {
  alignas(16) uint8_t place[kBlock];
  for (int i = 0; i < kBlock; ++i) {
    const int byte = 3 * i + colour - 16 * part;
    place[i] = byte >= 0 && byte < 16 ? static_cast<uint8_t>(byte) : 0x80;
  }
  return _mm_load_si128(reinterpret_cast<const __m128i*>(place));
}

// Splits all full blocks, and returns their number of pixels.
OPENSET_SSSE3 int64_t SplitBlocks(const uint8_t* pixels, int64_t count, uint8_t* const plane[3]) {
  __m128i places[3][3];
  for (int colour = 0; colour < 3; ++colour) {
    for (int part = 0; part < 3; ++part) places[colour][part] = Places(colour, part);
  }
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    const auto* in = reinterpret_cast<const __m128i*>(pixels + 3 * i);
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2);
    for (int colour = 0; colour < 3; ++colour) {
      const __m128i of_a = _mm_shuffle_epi8(a, places[colour][0]), of_b = _mm_shuffle_epi8(b, places[colour][1]);
      const __m128i all = _mm_or_si128(_mm_or_si128(of_a, of_b), _mm_shuffle_epi8(c, places[colour][2]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(plane[colour] + i), all);
    }
  }
  return i;
}

#undef OPENSET_SSSE3

#endif

}  // namespace

void SplitColours(const uint8_t* pixels, int64_t count, uint8_t* red, uint8_t* green, uint8_t* blue) {
  int64_t done = 0;
#if defined(__x86_64__)
  uint8_t* const plane[3] = {red, green, blue};
  if (__builtin_cpu_supports("ssse3")) done = SplitBlocks(pixels, count, plane);
#endif
  SplitOneByOne(pixels + 3 * done, count - done, red + done, green + done, blue + done);
}

namespace {

absl::StatusOr<Interleaved> DecodePng(absl::string_view bytes) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> png(spng_ctx_new(0), spng_ctx_free);
  if (png == nullptr) return absl::ResourceExhaustedError("no memory to decode PNG with");
  PngInput input{bytes};
  const auto damaged = [&input](int error) { return DamagedImageStatus("PNG", input.Reason(error)); };
  // Other chunks than the image's (profiles, texts) are not needed.
  constexpr size_t kMaxChunkBytes = 1 << 24;
  if (const int error = spng_set_chunk_limits(png.get(), kMaxChunkBytes, kMaxChunkBytes)) return damaged(error);
  if (const int error = spng_set_png_stream(png.get(), &PngInput::Read, &input)) return damaged(error);
  spng_ihdr header;
  if (const int error = spng_get_ihdr(png.get(), &header)) return damaged(error);
  // Deflate expands one byte to at most 1032, and a byte is at most 8 pixels.
  OPENSET_RETURN_IF_ERROR(
      CheckImageSize("PNG", header.height, header.width, 8 * 1032 * static_cast<int64_t>(bytes.size()), input.at));
  const bool grey = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE && header.bit_depth <= 8;
  Interleaved image{grey ? 1 : 3, header.height, header.width, {}};
  image.pixels.resize(image.channels * image.height * image.width);
  const int format = grey ? SPNG_FMT_G8 : SPNG_FMT_RGB8;
  if (const int error = spng_decode_image(png.get(), image.pixels.data(), image.pixels.size(), format, 0)) {
    return damaged(error);
  }
  return image;
}

// libjpeg's error handlers; LeaveJpeg() must not return.
struct JpegError {
  jpeg_error_mgr base;
  jmp_buf out;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void LeaveJpeg(j_common_ptr info) {
  auto* error = reinterpret_cast<JpegError*>(info->err);
  error->base.format_message(info, error->message);
  std::longjmp(error->out, 1);
}

// Only one of libjpeg's warnings is an error, as in Pillow: that the data ends early.
void WarnOfJpeg(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) LeaveJpeg(info);
}

// Pillow's MULDIV255: a * b / 255, rounded.
int Scale(int a, int b) {
  const int product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

// Inverted CMYK to RGB, as Pillow does it: u8 [count, 4] -> u8 [count, 3].
std::vector<uint8_t> FromCmyk(const uint8_t* pixel, int64_t count) {
  std::vector<uint8_t> colours;
  colours.reserve(3 * count);
  for (const uint8_t* const end = pixel + 4 * count; pixel != end; pixel += 4) {
    for (int c = 0; c < 3; ++c) colours.push_back(static_cast<uint8_t>(pixel[3] - Scale(255 - pixel[c], pixel[3])));
  }
  return colours;
}

// More scans than any program writes. Each scan processes the complete image, however few bytes it has.
constexpr int kMostScans = 100;

// libjpeg calls this many times in each scan.
void CheckScans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  auto* error = reinterpret_cast<JpegError*>(info->err);
  std::snprintf(error->message, sizeof(error->message), "it has more than %d scans", kMostScans);
  std::longjmp(error->out, 1);
}

// Writes u8 [count, from] to the image's planes, from position `at` on.
void PutPixels(const uint8_t* pixel, int64_t from, int64_t count, int64_t at, Image* image) {
  uint8_t* const out = image->pixels.data() + at;
  const int64_t plane = image->height * image->width;
  if (from == 4) {
    PutPixels(FromCmyk(pixel, count).data(), 3, count, at, image);
  } else if (from == 1) {
    for (int64_t c = 0; c < image->channels; ++c) std::copy_n(pixel, count, out + c * plane);
  } else if (image->channels == 1) {
    for (int64_t i = 0; i < count; ++i, pixel += 3) {
      out[i] = static_cast<uint8_t>((pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16);
    }
  } else {
    SplitColours(pixel, count, out, out + plane, out + 2 * plane);
  }
}

// The number of rows that are decoded before they are copied to planes: few enough to stay in the processor's cache.
constexpr int64_t kStrip = 16;

// Decodes into `image`, whose `channels` is set. Returns false if there is an error, which is then in `error`. No
// object between setjmp and longjmp needs destruction.
bool RunJpeg(jpeg_decompress_struct* info, JpegError* error, jpeg_progress_mgr* progress, absl::string_view bytes,
             std::vector<uint8_t>* strip, Image* image, absl::Status* size) {
  if (setjmp(error->out) != 0) return false;
  jpeg_create_decompress(info);
  info->progress = progress;
  jpeg_mem_src(info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(info, TRUE);
  const bool grey = info->jpeg_color_space == JCS_GRAYSCALE;
  const bool four = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
  info->out_color_space = grey ? JCS_GRAYSCALE : four ? JCS_CMYK : JCS_RGB;
  const int64_t from = grey ? 1 : four ? 4 : 3;
  image->height = info->image_height;
  image->width = info->image_width;
  // A block of 64 pixels needs at least one bit.
  *size = CheckImageSize("JPEG", image->height, image->width, 1024 * static_cast<int64_t>(bytes.size()),
                         bytes.size() - std::min(bytes.size(), info->src->bytes_in_buffer));
  if (!size->ok()) return true;
  image->pixels.resize(image->channels * image->height * image->width);
  strip->resize(kStrip * from * image->width);
  jpeg_start_decompress(info);
  while (info->output_scanline < info->output_height) {
    const int64_t begin = info->output_scanline, end = std::min(begin + kStrip, image->height);
    while (info->output_scanline < end) {
      JSAMPROW row = &(*strip)[(info->output_scanline - begin) * from * image->width];
      jpeg_read_scanlines(info, &row, 1);
    }
    PutPixels(strip->data(), from, (end - begin) * image->width, begin * image->width, image);
  }
  jpeg_finish_decompress(info);
  return true;
}

absl::StatusOr<Image> DecodeJpeg(absl::string_view bytes, int64_t channels) {
  jpeg_decompress_struct info = {};
  JpegError error = {};
  info.err = jpeg_std_error(&error.base);
  error.base.error_exit = LeaveJpeg;
  error.base.emit_message = WarnOfJpeg;
  std::vector<uint8_t> strip;
  Image image{channels, 0, 0, {}};
  absl::Status size;
  jpeg_progress_mgr progress = {};
  progress.progress_monitor = CheckScans;
  const bool ok = RunJpeg(&info, &error, &progress, bytes, &strip, &image, &size);
  // The rest of the data. After its end libjpeg continues with an end marker that it inserts.
  const size_t left = info.src != nullptr ? std::min<size_t>(info.src->bytes_in_buffer, bytes.size()) : bytes.size();
  const bool has_ended = error.base.msg_code == JWRN_JPEG_EOF;
  jpeg_destroy_decompress(&info);
  if (!ok) {
    const size_t at = has_ended ? bytes.size() : bytes.size() - left;
    return DamagedImageStatus("JPEG", absl::StrCat(error.message, ", at byte ", at, " of ", bytes.size()));
  }
  OPENSET_RETURN_IF_ERROR(size);
  return image;
}

// Returns why libwebp, which gives no reason, could not decode the bytes.
std::string WebpReason(absl::string_view bytes) {
  const uint64_t whole = 8 + uint64_t{LittleEndian32(bytes.substr(4))};
  if (whole > bytes.size()) return absl::StrCat("cut short at byte ", bytes.size(), " of ", whole);
  // The chunk of the image itself, after the chunks of its extensions.
  size_t at = 12;
  while (at + 8 <= bytes.size() && !absl::StartsWith(bytes.substr(at), "VP8 ") &&
         !absl::StartsWith(bytes.substr(at), "VP8L")) {
    const uint64_t length = LittleEndian32(bytes.substr(at + 4));
    at += 8 + length + length % 2;
  }
  if (at + 8 > bytes.size()) return absl::StrCat("it has no image after byte 12 of ", bytes.size());
  return absl::StrCat("the image's data are corrupt, from byte ", at, " of ", bytes.size(), " on");
}

absl::StatusOr<Interleaved> DecodeStillWebp(absl::string_view bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  int width = 0, height = 0;
  if (WebPGetInfo(data, bytes.size(), &width, &height) == 0) return DamagedImageStatus("WebP", WebpReason(bytes));
  OPENSET_RETURN_IF_ERROR(CheckImageSize("WebP", height, width, kMaxImagePixels, 12));
  // libwebp writes only to as much of its memory as there is data for, whatever size the header claims.
  const std::unique_ptr<uint8_t, void (*)(void*)> decoded(WebPDecodeRGB(data, bytes.size(), &width, &height), WebPFree);
  if (decoded == nullptr) return DamagedImageStatus("WebP", WebpReason(bytes));
  const uint8_t* const begin = decoded.get();
  return Interleaved{3, height, width, std::vector<uint8_t>(begin, begin + 3 * int64_t{height} * width)};
}

// Whether the file is WebP with extensions, whose flags then are at byte 20.
bool IsExtendedWebp(absl::string_view bytes) { return bytes.size() > 20 && bytes.substr(12, 4) == "VP8X"; }

// Returns the first frame of an animation on its canvas, which is black.
absl::StatusOr<Interleaved> DecodeFirstWebp(absl::string_view bytes) {
  const WebPData data = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  const std::unique_ptr<WebPDemuxer, void (*)(WebPDemuxer*)> demuxer(WebPDemux(&data), WebPDemuxDelete);
  if (demuxer == nullptr) return DamagedImageStatus("WebP", WebpReason(bytes));
  const int64_t width = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH);
  const int64_t height = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT);
  WebPIterator frame;
  if (WebPDemuxGetFrame(demuxer.get(), 1, &frame) == 0) return DamagedImageStatus("WebP", "it has no frame");
  const absl::Cleanup release = [&frame] { WebPDemuxReleaseIterator(&frame); };
  OPENSET_RETURN_IF_ERROR(CheckImageSize("WebP", height, width, kMaxImagePixels, 12));
  OPENSET_ASSIGN_OR_RETURN(const Interleaved first,
                           DecodeStillWebp({reinterpret_cast<const char*>(frame.fragment.bytes), frame.fragment.size}));
  if (frame.x_offset < 0 || frame.y_offset < 0 || frame.x_offset + first.width > width ||
      frame.y_offset + first.height > height) {
    return DamagedImageStatus("WebP", "a frame outside its canvas");
  }
  if (first.width == width && first.height == height) return first;
  Interleaved image{3, height, width, std::vector<uint8_t>(3 * height * width)};
  for (int64_t y = 0; y < first.height; ++y) {
    std::copy_n(&first.pixels[3 * y * first.width], 3 * first.width,
                &image.pixels[3 * ((frame.y_offset + y) * width + frame.x_offset)]);
  }
  return image;
}

absl::StatusOr<Interleaved> DecodeWebp(absl::string_view bytes) {
  constexpr int kAnimation = 0x02;
  const bool is_animated = IsExtendedWebp(bytes) && (bytes[20] & kAnimation) != 0;
  return is_animated ? DecodeFirstWebp(bytes) : DecodeStillWebp(bytes);
}

bool IsJpeg(absl::string_view bytes) { return absl::StartsWith(bytes, "\xff\xd8\xff"); }

bool IsPng(absl::string_view bytes) { return absl::StartsWith(bytes, "\x89PNG"); }

bool IsWebp(absl::string_view bytes) {
  return absl::StartsWith(bytes, "RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP";
}

// Decodes all formats but JPEG.
absl::StatusOr<Interleaved> Decode(absl::string_view bytes) {
  if (IsPng(bytes)) return DecodePng(bytes);
  if (IsWebp(bytes)) return DecodeWebp(bytes);
  if (IsTiff(bytes)) return DecodeTiff(bytes);
  if (IsGif(bytes)) return DecodeGif(bytes);
  if (IsBmp(bytes)) return DecodeBmp(bytes);
  if (IsPnm(bytes)) return DecodePnm(bytes);
  return absl::DataLossError(
      absl::StrCat("not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image, at byte 0 of ", bytes.size()));
}

// Returns the content of a chunk, "" if there is none: of PNG, whose chunks have a length, a name, the content and a
// checksum, or of WebP, with a name, a length and the content, padded to an even length.
absl::string_view PngChunk(absl::string_view bytes, absl::string_view name) {
  for (size_t at = 8; at + 12 <= bytes.size();) {
    uint64_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<uint8_t>(bytes[at + i]);
    if (length > bytes.size() - at - 12) break;
    if (bytes.substr(at + 4, 4) == name) return bytes.substr(at + 8, length);
    at += 12 + length;
  }
  return "";
}
absl::string_view WebpChunk(absl::string_view bytes, absl::string_view name) {
  for (size_t at = 12; at + 8 <= bytes.size();) {
    const uint64_t length = LittleEndian32(bytes.substr(at + 4));
    if (length > bytes.size() - at - 8) break;
    if (bytes.substr(at, 4) == name) return bytes.substr(at + 8, length);
    at += 8 + length + length % 2;
  }
  return "";
}

// Returns the orientation in the EXIF data of a JPEG, PNG or WebP file, 1 (as stored) if it has none.
int OrientationOf(absl::string_view bytes) {
  constexpr absl::string_view kStart("Exif\0\0", 6);
  std::string exif;
  if (!IsJpeg(bytes)) {
    exif = std::string(IsPng(bytes) ? PngChunk(bytes, "eXIf") : IsWebp(bytes) ? WebpChunk(bytes, "EXIF") : "");
    if (exif.empty()) return 1;
    if (!absl::StartsWith(exif, kStart)) exif.insert(0, kStart.data(), kStart.size());
    bytes = exif;
  }
  const std::unique_ptr<ExifData, void (*)(ExifData*)> data(
      exif_data_new_from_data(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()), exif_data_unref);
  if (data == nullptr) return 1;
  const ExifEntry* entry = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
  if (entry == nullptr || entry->format != EXIF_FORMAT_SHORT || entry->size < 2) return 1;
  const int orientation = exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

// Returns the image rotated and mirrored to be upright.
Image Upright(const Image& image, int orientation) {
  const bool lies = orientation >= 5;
  Image upright{image.channels, lies ? image.width : image.height, lies ? image.height : image.width,
                std::vector<uint8_t>(image.pixels.size())};
  // Whether the stored rows and columns are counted from their ends.
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  uint8_t* out = upright.pixels.data();
  for (int64_t c = 0; c < image.channels; ++c) {
    const uint8_t* plane = &image.pixels[c * image.height * image.width];
    for (int64_t y = 0; y < upright.height; ++y) {
      for (int64_t x = 0; x < upright.width; ++x) {
        const int64_t row = lies ? x : y, column = lies ? y : x;
        *out++ = plane[(from_bottom ? image.height - 1 - row : row) * image.width +
                       (from_right ? image.width - 1 - column : column)];
      }
    }
  }
  return upright;
}

// Sets `orientation` if the format itself says it.
absl::StatusOr<Image> DecodeStored(absl::string_view bytes, int64_t channels, int* orientation) {
  if (IsJpeg(bytes)) return DecodeJpeg(bytes, channels);
  OPENSET_ASSIGN_OR_RETURN(const Interleaved decoded, Decode(bytes));
  const int64_t size = decoded.height * decoded.width;
  Image image{channels, decoded.height, decoded.width, std::vector<uint8_t>(channels * size)};
  PutPixels(decoded.pixels.data(), decoded.channels, size, 0, &image);
  *orientation = decoded.orientation;
  return image;
}

constexpr size_t kEnds = 12;  // bytes that tell a format, and that one ends with

// Whether a file of this size has the beginning of a format and its end, each kEnds bytes.
bool LooksWhole(absl::string_view begin, absl::string_view end, int64_t size) {
  if (IsJpeg(begin)) return absl::EndsWith(end, "\xff\xd9");
  if (IsPng(begin)) return end == absl::string_view("\0\0\0\0IEND\xae\x42\x60\x82", kEnds);
  if (IsWebp(begin)) return int64_t{8} + LittleEndian32(begin.substr(4)) == size;
  return IsGif(begin) && absl::EndsWith(end, ";");
}

absl::StatusOr<bool> LooksWhole(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  if (file.bytes() < static_cast<int64_t>(kEnds)) return false;
  std::string begin(kEnds, '\0'), end(kEnds, '\0');
  OPENSET_ASSIGN_OR_RETURN(const size_t first, file.Read(begin.data(), kEnds));
  OPENSET_RETURN_IF_ERROR(file.MoveTo(file.bytes() - static_cast<int64_t>(kEnds)));
  OPENSET_ASSIGN_OR_RETURN(const size_t last, file.Read(end.data(), kEnds));
  return first == kEnds && last == kEnds && LooksWhole(begin, end, file.bytes());
}

}  // namespace

absl::Status CheckImageFile(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const bool is_whole, LooksWhole(path));
  if (is_whole) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxImageFileBytes));
  const absl::StatusOr<Image> image = DecodeImage(bytes, 3);
  return image.ok() ? absl::OkStatus() : Annotate(image.status(), path);
}

absl::StatusOr<Image> DecodeImage(absl::string_view bytes, int64_t channels, bool exif_orientation) {
  int orientation = 1;
  OPENSET_ASSIGN_OR_RETURN(Image image, DecodeStored(bytes, channels, &orientation));
  if (!exif_orientation) return image;
  if (orientation == 1) orientation = OrientationOf(bytes);
  return orientation == 1 ? std::move(image) : Upright(image, orientation);
}

}  // namespace openset
