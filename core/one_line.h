// Text of unknown origin in messages and tables.
#ifndef OPENSET_CORE_ONE_LINE_H_
#define OPENSET_CORE_ONE_LINE_H_

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace openset {

// Control characters, line breaks among them, become spaces.
inline std::string OneLine(absl::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return line;
}

}  // namespace openset

#endif  // OPENSET_CORE_ONE_LINE_H_
