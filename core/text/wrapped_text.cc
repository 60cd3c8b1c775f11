#include "core/text/wrapped_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace openset {

std::string Counted(int64_t n, absl::string_view noun) { return absl::StrCat(n, " ", noun, n == 1 ? "" : "s"); }

namespace {

// Whether a byte continues a character.
bool IsInside(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string ShortLine(absl::string_view line, size_t most_bytes) {
  if (line.size() <= most_bytes) return std::string(line);
  size_t end = most_bytes;
  while (end > 0 && most_bytes - end < 3 && IsInside(line[end])) --end;
  return absl::StrCat(line.substr(0, end), "... (and ", line.size() - end, " bytes more)");
}

}  // namespace

std::string Shortened(absl::string_view text, size_t most_lines, size_t most_bytes) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  std::vector<std::string> kept;
  for (size_t i = 0; i < std::min(lines.size(), most_lines); ++i) kept.push_back(ShortLine(lines[i], most_bytes));
  if (lines.size() > most_lines) kept.push_back(absl::StrCat("(and ", lines.size() - most_lines, " lines more)"));
  return absl::StrJoin(kept, "\n");
}

size_t TextWidth(absl::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

std::vector<std::string> WrapWords(absl::string_view text, size_t width) {
  std::vector<std::string> lines = {""};
  size_t used = 0;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const size_t more = TextWidth(word);
    if (lines.back().empty()) {
      lines.back() = std::string(word);
      used = more;
    } else if (used + 1 + more <= width) {
      absl::StrAppend(&lines.back(), " ", word);
      used += 1 + more;
    } else {
      lines.emplace_back(word);
      used = more;
    }
  }
  return lines;
}

std::string Wrapped(absl::string_view text, size_t width) {
  std::vector<std::string> wrapped;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (TextWidth(line) <= width || indent + 2 >= width) {
      wrapped.emplace_back(line);
      continue;
    }
    const std::string in(indent + 2, ' ');
    std::string rest(absl::StripTrailingAsciiWhitespace(line.substr(indent)));
    const std::string first = WrapWords(rest, width - indent).front();
    wrapped.push_back(absl::StrCat(line.substr(0, indent), first));
    rest.erase(0, std::min(rest.size(), first.size() + 1));
    if (rest.empty()) continue;
    for (const std::string& part : WrapWords(rest, width - indent - 2)) wrapped.push_back(in + part);
  }
  return absl::StrJoin(wrapped, "\n");
}

}  // namespace openset
