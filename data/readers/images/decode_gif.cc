#include <gif_lib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/status_macros.h"
#include "data/readers/images/decoders.h"

namespace openset {
namespace {

struct Input {
  absl::string_view bytes;
  size_t at = 0;
};

int Read(GifFileType* gif, GifByteType* out, int count) {
  auto* input = static_cast<Input*>(gif->UserData);
  const size_t some = std::min<size_t>(std::max(count, 0), input->bytes.size() - input->at);
  std::memcpy(out, input->bytes.data() + input->at, some);
  input->at += some;
  return static_cast<int>(some);
}

void Close(GifFileType* gif) {
  int error = 0;
  DGifCloseFile(gif, &error);
}

// Reads up to the first image's description. Returns the transparent colour, -1 if there is none.
absl::StatusOr<int> ReadToImage(GifFileType* gif, const std::string& where) {
  int transparent = NO_TRANSPARENT_COLOR;
  while (true) {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(gif, &type) == GIF_ERROR) return DamagedImageStatus("GIF", "it ends too early" + where);
    if (type == TERMINATE_RECORD_TYPE) return DamagedImageStatus("GIF", "it has no image" + where);
    if (type == IMAGE_DESC_RECORD_TYPE) return transparent;
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif, &code, &block) == GIF_ERROR) {
      return DamagedImageStatus("GIF", "a corrupt extension" + where);
    }
    while (block != nullptr) {
      GraphicsControlBlock control;
      if (code == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        transparent = control.TransparentColor;
      }
      if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) {
        return DamagedImageStatus("GIF", "a corrupt extension" + where);
      }
    }
  }
}

}  // namespace

bool IsGif(absl::string_view bytes) { return absl::StartsWith(bytes, "GIF87a") || absl::StartsWith(bytes, "GIF89a"); }

absl::StatusOr<Interleaved> DecodeGif(absl::string_view bytes) {
  Input input{bytes};
  const std::string where = absl::StrCat(", in ", bytes.size(), " bytes");
  int error = 0;
  const std::unique_ptr<GifFileType, void (*)(GifFileType*)> gif(DGifOpen(&input, Read, &error), Close);
  if (gif == nullptr) return DamagedImageStatus("GIF", "it ends too early" + where);
  OPENSET_ASSIGN_OR_RETURN(const int transparent, ReadToImage(gif.get(), where));
  if (DGifGetImageDesc(gif.get()) == GIF_ERROR) return DamagedImageStatus("GIF", "a corrupt frame" + where);
  const GifImageDesc& frame = gif->Image;
  // A code of at most 12 bits stands for at most 4096 pixels.
  const int64_t most = 2731 * static_cast<int64_t>(bytes.size());
  OPENSET_RETURN_IF_ERROR(CheckImageSize("GIF", frame.Height, frame.Width, most, input.at));
  const int64_t height = std::max<int64_t>(gif->SHeight, int64_t{frame.Top} + frame.Height);
  const int64_t width = std::max<int64_t>(gif->SWidth, int64_t{frame.Left} + frame.Width);
  OPENSET_RETURN_IF_ERROR(CheckImageSize("GIF", height, width, most, input.at));
  if (frame.Left < 0 || frame.Top < 0) return DamagedImageStatus("GIF", "a frame outside its canvas" + where);

  std::vector<uint8_t> canvas(height * width, static_cast<uint8_t>(std::max(transparent, 0)));
  std::vector<GifPixelType> row(frame.Width);
  const auto read_row = [&](int y) {
    if (DGifGetLine(gif.get(), row.data(), frame.Width) == GIF_ERROR) return false;
    std::copy(row.begin(), row.end(), &canvas[(frame.Top + y) * width + frame.Left]);
    return true;
  };
  // Interlaced rows come in four passes.
  constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  for (int pass = 0; pass < (frame.Interlace ? 4 : 1); ++pass) {
    const int step = frame.Interlace ? kStep[pass] : 1;
    for (int y = frame.Interlace ? kFirst[pass] : 0; y < frame.Height; y += step) {
      if (!read_row(y)) return DamagedImageStatus("GIF", absl::StrCat("corrupt pixels in row ", y, where));
    }
  }
  const ColorMapObject* colours = frame.ColorMap != nullptr ? frame.ColorMap : gif->SColorMap;
  Interleaved image{colours == nullptr ? 1 : 3, height, width, {}};
  if (colours == nullptr) {  // grey, as in Pillow
    image.pixels = std::move(canvas);
    return image;
  }
  image.pixels.reserve(3 * canvas.size());
  for (const uint8_t index : canvas) {
    const GifColorType colour = index < colours->ColorCount ? colours->Colors[index] : GifColorType{0, 0, 0};
    image.pixels.insert(image.pixels.end(), {colour.Red, colour.Green, colour.Blue});
  }
  return image;
}

}  // namespace openset
