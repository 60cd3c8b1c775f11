#include "core/files/formats/csv.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/status_macros.h"

namespace openset {
namespace {

template <typename... Parts>
absl::Status AtLine(int64_t line, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", parts...));
}

absl::Status IsUtf16() {
  return absl::InvalidArgumentError("is UTF-16 text: save it as UTF-8 (Excel calls that CSV UTF-8)");
}

// The separator of the header's cells.
char SeparatorOf(absl::string_view text) {
  const char separators[] = {',', ';', '\t'};
  int64_t count[] = {0, 0, 0};
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n') break;
    for (int i = 0; i < 3; ++i) count[i] += c == separators[i];
  }
  return separators[std::max_element(count, count + 3) - count];
}

// Reads records from the start of a text.
class CsvReader {
 public:
  explicit CsvReader(absl::string_view text) : text_(text) {
    // Excel's line that names the separator.
    if (absl::StartsWithIgnoreCase(text, "sep=") && text.size() > 5 && (text[5] == '\n' || text[5] == '\r')) {
      separator_ = text[4];
      at_ = text.find('\n');
      at_ = at_ == absl::string_view::npos ? text.size() : at_ + 1;
      line_ = 2;
    } else {
      separator_ = SeparatorOf(text);
    }
  }

  bool AtEnd() const { return at_ == text_.size(); }
  int64_t line() const { return line_; }
  bool OnlyEmptyLinesLeft() const { return text_.find_first_not_of("\r\n", at_) == absl::string_view::npos; }

  absl::Status Next(std::vector<absl::string_view>* cells) {
    cells->clear();
    unescaped_.clear();
    while (true) {
      absl::string_view cell;
      OPENSET_RETURN_IF_ERROR(Peek() == '"' ? QuotedCell(&cell) : PlainCell(&cell));
      if (cells->size() == kMaxCells) return AtLine(line_, "has more than ", kMaxCells, " cells");
      cells->push_back(cell);
      if (Peek() != separator_) break;
      ++at_;
    }
    if (Peek() == '\r') ++at_;
    if (Peek() == '\n') ++at_;
    ++line_;
    return absl::OkStatus();
  }

 private:
  // '\n' at the end.
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  bool AtLineEnd() const {
    return Peek() == '\n' || (Peek() == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
  }

  absl::Status PlainCell(absl::string_view* cell) {
    const size_t begin = at_;
    for (; Peek() != separator_ && !AtLineEnd(); ++at_) {
      if (Peek() == '"') return AtLine(line_, "a quote inside a cell that does not start with one");
    }
    *cell = text_.substr(begin, at_ - begin);
    return absl::OkStatus();
  }

  absl::Status QuotedCell(absl::string_view* cell) {
    const int64_t first_line = line_;
    std::string content;
    while (true) {
      const size_t quote = text_.find('"', at_ + 1);
      if (quote == absl::string_view::npos) return AtLine(first_line, "a quote that is not closed");
      for (size_t i = at_ + 1; i < quote; ++i) line_ += text_[i] == '\n';
      content.append(text_.data() + at_ + 1, quote - at_ - 1);
      at_ = quote + 1;
      if (Peek() != '"') break;
      content.push_back('"');
    }
    if (Peek() != separator_ && !AtLineEnd()) return AtLine(line_, "text after a closing quote");
    unescaped_.push_back(std::move(content));
    *cell = unescaped_.back();
    return absl::OkStatus();
  }

  absl::string_view text_;
  char separator_;
  size_t at_ = 0;
  int64_t line_ = 1;
  std::deque<std::string> unescaped_;
};

}  // namespace

absl::Status ReadCsv(absl::string_view text,
                     const std::function<absl::Status(int64_t line, absl::Span<const absl::string_view> cells)>& row) {
  for (const absl::string_view mark : {"\xFF\xFE", "\xFE\xFF"}) {
    if (absl::StartsWith(text, mark)) return IsUtf16();
  }
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
  if (const size_t nul = text.find('\0'); nul != absl::string_view::npos) {
    if (nul < 2 && text.size() > 3 && text[nul + 2] == '\0') return IsUtf16();
    return absl::InvalidArgumentError(absl::StrCat("is not text: byte ", nul, " is NUL"));
  }
  // Lines of an old Mac.
  std::string lines;
  if (absl::StrContains(text, '\r') && !absl::StrContains(text, '\n')) {
    lines = absl::StrReplaceAll(text, {{"\r", "\n"}});
    text = lines;
  }
  CsvReader reader(text);
  std::vector<absl::string_view> cells;
  size_t width = 0;
  while (!reader.AtEnd() && !reader.OnlyEmptyLinesLeft()) {
    const int64_t line = reader.line();
    OPENSET_RETURN_IF_ERROR(reader.Next(&cells));
    if (width == 0) width = cells.size();
    if (cells.size() != width) {
      if (cells.size() == 1 && cells[0].empty()) return AtLine(line, "is empty");
      return AtLine(line, "has ", cells.size(), " cells, the header has ", width);
    }
    OPENSET_RETURN_IF_ERROR(row(line, cells));
  }
  return absl::OkStatus();
}

}  // namespace openset
