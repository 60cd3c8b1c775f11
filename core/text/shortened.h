// Shortens messages that quote user input.
#ifndef OPENSET_CORE_TEXT_SHORTENED_H_
#define OPENSET_CORE_TEXT_SHORTENED_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace openset {

// At most `most_lines` lines of `text`, each cut between UTF-8 characters to at most `most_bytes` bytes. Says what it
// omits: "... (and 97000 bytes more)", "(and 900 lines more)".
std::string Shortened(absl::string_view text, size_t most_lines = 100, size_t most_bytes = 1000);

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_SHORTENED_H_
