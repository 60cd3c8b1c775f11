#include "core/text/one_line.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace openset {
namespace {

constexpr char kReplacement[] = "\xef\xbf\xbd";  // U+FFFD

// The first character of a text that is not empty.
struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0 if the first byte doesn't start a UTF-8 character
};

bool IsPrintableAscii(char c) { return c >= 0x20 && c < 0x7f; }

size_t BytesOf(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

Character First(absl::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t bytes = BytesOf(first);
  if (bytes == 1) return {first, 1};
  if (bytes == 0 || text.size() < bytes) return {};
  uint32_t code = first & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[bytes] || code > 0x10ffff || is_surrogate) return {};
  return {code, bytes};
}

// Beyond ASCII: control characters, line separators, marks of direction.
bool Steers(uint32_t code) {
  return (code >= 0x80 && code <= 0x9f) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string Shown(absl::string_view text, absl::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const size_t plain = std::find_if_not(text.begin(), text.end(), IsPrintableAscii) - text.begin();
    shown.append(text.data(), plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Character character = First(text);
    const bool is_ascii = character.bytes == 1;
    if (character.bytes == 0 || Steers(character.code)) {
      shown.append(kReplacement);
    } else if (is_ascii && kept.find(text[0]) == absl::string_view::npos) {
      shown.push_back(' ');
    } else {
      shown.append(text.data(), character.bytes);
    }
    text.remove_prefix(std::max<size_t>(1, character.bytes));
  }
  return shown;
}

}  // namespace

bool IsUtf8(absl::string_view text) {
  // Nearly all text is ASCII.
  unsigned char bits = 0;
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  if (bits < 0x80) return true;
  while (!text.empty()) {
    const size_t bytes = First(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string OneLine(absl::string_view text) { return Shown(text, ""); }

std::string Printable(absl::string_view text) { return Shown(text, "\n\t"); }

size_t UnfinishedBytes(absl::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    return BytesOf(byte) > back ? back : 0;
  }
  return 0;
}

std::string WithoutControls(std::string json) {
  const auto is_plain = [](char c) { return absl::ascii_isascii(static_cast<unsigned char>(c)) && c != 0x7f; };
  absl::string_view left = json;
  std::string escaped;
  while (!left.empty()) {
    const size_t plain = std::find_if_not(left.begin(), left.end(), is_plain) - left.begin();
    if (plain == json.size()) return json;
    escaped.append(left.data(), plain);
    left.remove_prefix(plain);
    if (left.empty()) break;
    const Character character = First(left);
    const size_t bytes = std::max<size_t>(1, character.bytes);
    if (character.code == 0x7f || (character.bytes > 1 && Steers(character.code))) {
      absl::StrAppendFormat(&escaped, "\\u%04x", character.code);
    } else {
      escaped.append(left.data(), bytes);
    }
    left.remove_prefix(bytes);
  }
  return escaped;
}

}  // namespace openset
