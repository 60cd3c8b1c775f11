// Text for people: counted, shortened and wrapped.
#ifndef OPENSET_CORE_TEXT_WRAPPED_TEXT_H_
#define OPENSET_CORE_TEXT_WRAPPED_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace openset {

// "1 run", "2 runs".
std::string Counted(int64_t n, absl::string_view noun);

// ---- Shortens messages that quote user input.

// At most `most_lines` lines of `text`, each cut between UTF-8 characters to at most `most_bytes` bytes. Says what it
// omits: "... (and 97000 bytes more)", "(and 900 lines more)".
std::string Shortened(absl::string_view text, size_t most_lines = 100, size_t most_bytes = 1000);

// Wraps text to a width, for a terminal. Widths count UTF-8 characters.

// The width of printed text, in columns.
inline constexpr size_t kTextWidth = 120;

// The number of characters.
size_t TextWidth(absl::string_view text);

// Wraps a text without line ends to lines of at most `width` characters. A longer word gets its own line.
std::vector<std::string> WrapWords(absl::string_view text, size_t width);

// Wraps each line that is wider than `width`. Its first part keeps the line's indentation; the others are indented by
// two more columns. Other lines are unchanged.
std::string Wrapped(absl::string_view text, size_t width = kTextWidth);

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_WRAPPED_TEXT_H_
