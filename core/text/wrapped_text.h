// Words on lines of a width, for a terminal. UTF-8 counts by characters.
#ifndef OPENSET_CORE_TEXT_WRAPPED_TEXT_H_
#define OPENSET_CORE_TEXT_WRAPPED_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace openset {

// Columns of what is printed as text.
inline constexpr size_t kTextWidth = 120;

// Characters.
size_t TextWidth(absl::string_view text);

// The words of a text without line ends on lines of at most `width` characters; a longer word has a line of its own.
std::vector<std::string> WrapWords(absl::string_view text, size_t width);

// Each line that is wider than `width` on several: the first begins as it does, the others two columns further in.
// All other lines stay as they are.
std::string Wrapped(absl::string_view text, size_t width = kTextWidth);

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_WRAPPED_TEXT_H_
