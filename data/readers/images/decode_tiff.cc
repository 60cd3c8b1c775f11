#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/readers/images/decoders.h"

// Rare compressions, each of which would link another library, and the JPEG of TIFF 5, whose decoder has a bad record.
// libtiff takes these functions instead of its own; a file that needs one is refused with the compression's name.
extern "C" {
int TIFFInitJBIG(TIFF*, int) { return 0; }
int TIFFInitLERC(TIFF*, int) { return 0; }
int TIFFInitLZMA(TIFF*, int) { return 0; }
int TIFFInitOJPEG(TIFF*, int) { return 0; }
int TIFFInitWebP(TIFF*, int) { return 0; }
int TIFFInitZSTD(TIFF*, int) { return 0; }
}

namespace openset {
namespace {

// No single allocation for a file is larger: the raster of the largest image.
constexpr tmsize_t kMostBytes = 4 * kMaxImagePixels + (1 << 16);

// The bytes of the file and the position in them; libtiff's first error.
struct TiffInput {
  absl::string_view bytes;
  uint64_t at = 0;
  std::string error;
};

tmsize_t Read(thandle_t handle, void* out, tmsize_t count) {
  auto* input = static_cast<TiffInput*>(handle);
  if (count < 0 || input->at >= input->bytes.size()) return 0;
  const size_t some = std::min<uint64_t>(count, input->bytes.size() - input->at);
  std::memcpy(out, input->bytes.data() + input->at, some);
  input->at += some;
  return static_cast<tmsize_t>(some);
}

tmsize_t Write(thandle_t, void*, tmsize_t) { return 0; }

toff_t Seek(thandle_t handle, toff_t offset, int whence) {
  auto* input = static_cast<TiffInput*>(handle);
  const uint64_t base = whence == SEEK_CUR ? input->at : whence == SEEK_END ? input->bytes.size() : 0;
  input->at = base + offset;
  return input->at;
}

int Close(thandle_t) { return 0; }

toff_t Size(thandle_t handle) { return static_cast<TiffInput*>(handle)->bytes.size(); }

int KeepError(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto* input = static_cast<TiffInput*>(user);
  if (!input->error.empty()) return 1;
  char text[256];
  std::vsnprintf(text, sizeof(text), format, arguments);
  input->error = OneLine(text);
  return 1;
}

int IgnoreWarning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

// Returns the pixels that the bytes can encode. A CCITT line of any width takes a bit; LZW makes at most 4096 bytes out
// of 12 bits, more than Deflate and JPEG; a byte is at most 8 pixels.
int64_t MostPixels(uint16_t compression, size_t bytes) {
  if (compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4) return kMaxImagePixels;
  return 8 * 2731 * static_cast<int64_t>(bytes);
}

}  // namespace

bool IsTiff(absl::string_view bytes) {
  const absl::string_view start = bytes.substr(0, 4);
  return start == absl::string_view("II*\0", 4) || start == absl::string_view("MM\0*", 4) ||
         start == absl::string_view("II+\0", 4) || start == absl::string_view("MM\0+", 4);
}

absl::StatusOr<Interleaved> DecodeTiff(absl::string_view bytes) {
  TiffInput input{bytes};
  const auto damaged = [&input](absl::string_view otherwise) {
    return DamagedImageStatus("TIFF", input.error.empty() ? otherwise : absl::string_view(input.error));
  };
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (options == nullptr) return absl::ResourceExhaustedError("no memory to decode TIFF with");
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMostBytes);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), KeepError, &input);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), IgnoreWarning, &input);
  const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(
      TIFFClientOpenExt("image", "rm", &input, Read, Write, Seek, Close, Size, nullptr, nullptr, options.get()),
      TIFFClose);
  if (tiff == nullptr) return damaged("it has no image");
  uint32_t width = 0, height = 0;
  uint16_t compression = COMPRESSION_NONE;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_COMPRESSION, &compression);
  OPENSET_RETURN_IF_ERROR(CheckImageSize("TIFF", height, width, MostPixels(compression, bytes.size()),
                                         std::min<size_t>(input.at, bytes.size())));
  for (const auto& [number, name] : {std::pair{COMPRESSION_JBIG, "JBIG"},
                                     {COMPRESSION_LERC, "LERC"},
                                     {COMPRESSION_LZMA, "LZMA"},
                                     {COMPRESSION_OJPEG, "the JPEG of TIFF 5"},
                                     {COMPRESSION_WEBP, "WebP"},
                                     {COMPRESSION_ZSTD, "Zstandard"}}) {
    if (compression != number) continue;
    return absl::DataLossError(absl::StrCat("a TIFF image compressed by ", name,
                                            ", which is not read; save it with LZW, Deflate or no compression"));
  }
  // Alpha is to be ignored, not multiplied in: libtiff leaves the colours as they are if it is not told what it is.
  uint16_t extras = 0;
  uint16_t* kinds = nullptr;
  if (TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_EXTRASAMPLES, &extras, &kinds) == 1 && extras > 0) {
    std::vector<uint16_t> unspecified(extras, EXTRASAMPLE_UNSPECIFIED);
    TIFFSetField(tiff.get(), TIFFTAG_EXTRASAMPLES, extras, unspecified.data());
  }
  char reason[1024] = "";
  TIFFRGBAImage reader;
  if (TIFFRGBAImageOK(tiff.get(), reason) == 0 ||
      TIFFRGBAImageBegin(&reader, tiff.get(), /*stop_on_error=*/1, reason) == 0) {
    return DamagedImageStatus("TIFF", reason[0] != '\0' ? OneLine(reason) : "it can't be decoded");
  }
  const std::unique_ptr<TIFFRGBAImage, void (*)(TIFFRGBAImage*)> end(&reader, TIFFRGBAImageEnd);
  // Rows as they are stored.
  Interleaved image{3, height, width, {}};
  image.orientation = reader.orientation >= 1 && reader.orientation <= 8 ? reader.orientation : 1;
  reader.orientation = reader.req_orientation = ORIENTATION_TOPLEFT;
  if (reader.Bitdepth16To8 != nullptr) {
    for (int value = 0; value < 1 << 16; ++value) reader.Bitdepth16To8[value] = static_cast<uint8_t>(value >> 8);
  }
  std::vector<uint32_t> raster(static_cast<size_t>(height) * width);
  if (TIFFRGBAImageGet(&reader, raster.data(), width, height) == 0 || !input.error.empty()) {
    return damaged("its pixels can't be decoded");
  }
  image.pixels.resize(3 * raster.size());
  uint8_t* out = image.pixels.data();
  for (const uint32_t pixel : raster) {
    *out++ = static_cast<uint8_t>(TIFFGetR(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetG(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetB(pixel));
  }
  return image;
}

}  // namespace openset
