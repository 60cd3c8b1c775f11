// The bytes that libspng reads, and its position in them.
#ifndef OPENSET_DATA_READERS_IMAGES_PNG_INPUT_H_
#define OPENSET_DATA_READERS_IMAGES_PNG_INPUT_H_

#include <spng.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace openset {

// Pass it to spng_set_png_stream with Read(). It must outlive the decoding.
struct PngInput {
  absl::string_view bytes;
  size_t at = 0;  // number of bytes read so far

  static int Read(spng_ctx* /*png*/, void* input, void* out, size_t count) {
    auto* self = static_cast<PngInput*>(input);
    if (count > self->bytes.size() - self->at) return SPNG_IO_EOF;
    std::memcpy(out, self->bytes.data() + self->at, count);
    self->at += count;
    return 0;
  }

  // "invalid IHDR chunk, at byte 33 of 79".
  std::string Reason(int error) const {
    return absl::StrCat(error == SPNG_IO_EOF ? "it ends too early" : spng_strerror(error), ", at byte ", at, " of ",
                        bytes.size());
  }
};

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_PNG_INPUT_H_
