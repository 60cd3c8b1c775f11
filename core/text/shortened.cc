#include "core/text/shortened.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace openset {
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

}  // namespace openset
