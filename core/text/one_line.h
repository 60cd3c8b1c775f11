// Makes untrusted text, such as file names and texts from records, safe for messages, tables and the terminal.
#ifndef OPENSET_CORE_TEXT_ONE_LINE_H_
#define OPENSET_CORE_TEXT_ONE_LINE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace openset {

// Whether the bytes are UTF-8 (RFC 3629: shortest forms, no surrogates).
bool IsUtf8(absl::string_view text);

// The text on one line, without control characters for a terminal: ASCII control characters (line ends, tabs and ESC
// among them) become blanks. U+FFFD replaces each byte that is not UTF-8, the control characters U+0080 to U+009F, the
// separators U+2028 and U+2029, and marks that change the direction of writing. The result is UTF-8.
std::string OneLine(absl::string_view text);

// The same, except that line ends and tabs stay.
std::string Printable(absl::string_view text);

// The number of bytes at the end of `text`, 0 to 3, that begin a UTF-8 character whose other bytes may follow.
size_t UnfinishedBytes(absl::string_view text);

// Escapes the characters that Printable() replaces but JSON needn't escape, as "\u009b". `json` is JSON in UTF-8.
std::string WithoutControls(std::string json);

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_ONE_LINE_H_
