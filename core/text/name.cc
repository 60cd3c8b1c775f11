#include "core/text/name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/text/one_line.h"

namespace openset {

bool IsName(absl::string_view text) {
  const auto is_letter_or_digit = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); };
  if (text.empty() || text.size() > kMostNameBytes || !is_letter_or_digit(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter_or_digit(c) || c == '_' || c == '.' || c == '+' || c == '-'; });
}

std::string NameLike(absl::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kMostNameBytes)) {
    const bool continues_character = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // of UTF-8
    const std::string one(1, c);
    if (IsName(name.empty() ? one : "a" + one)) {
      name += c;
    } else if (!name.empty() && !continues_character) {
      name += '_';
    }
  }
  return name.empty() ? "folder" : name;
}

std::string NameProblem(absl::string_view text) {
  if (IsName(text)) return "";
  const bool is_long = text.size() > kMostNameBytes;
  return absl::StrCat(
      "'", OneLine(text.substr(0, kMostNameBytes)), is_long ? "..." : "", "' is not a valid name",
      is_long ? absl::StrCat(": it has ", text.size(), " bytes, and at most ", kMostNameBytes, " are allowed")
              : ": use letters, digits, _, ., + and -, a letter or digit first");
}

}  // namespace openset
