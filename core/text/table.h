// Tables of text.
#ifndef OPENSET_CORE_TEXT_TABLE_H_
#define OPENSET_CORE_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/text/wrapped_text.h"

namespace openset {

// How a cell stands out in Markdown and LaTeX: bold, underlined.
enum class Emphasis { kNone, kBest, kSecond };

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;   // as long as the header
  int left_columns = 1;                         // aligned to the left; the others to the right
  std::vector<std::vector<Emphasis>> emphasis;  // of rows and their cells; what is not there is kNone

  Emphasis EmphasisOf(size_t row, size_t column) const {
    return row < emphasis.size() && column < emphasis[row].size() ? emphasis[row][column] : Emphasis::kNone;
  }
};

// A number in a cell: 17 significant digits, which give the same double when read.
std::string FullPrecision(double value);

// Aligned columns, for a terminal: each cell is a OneLine() (core/text/one_line.h). UTF-8 counts by characters. A table
// that is wider than `width` has its heads over several lines, and where that is not enough its columns in parts below
// each other, each with the left ones. If a column does not fit beside the left ones, their cells are over several
// lines too.
std::string ToText(const Table& table, size_t width = kTextWidth);
// A pipe table. What Markdown would read as HTML, code, a link or a column is escaped.
std::string ToMarkdown(const Table& table);
// RFC 4180, with "\n" as line end. A cell that begins with =, +, -, @, a tab or a carriage return, and is neither a
// number nor this character alone, has ' before it: spreadsheets would take it for a formula.
std::string ToCsv(const Table& table);

// A tabular with the rules of booktabs; what LaTeX would read as commands is escaped.
std::string ToLatex(const Table& table);

// Text as Markdown shows it, on one line: no HTML, code, link or column comes of it.
std::string EscapeMarkdown(const std::string& text);

// Text as LaTeX shows it, on one line; ± and arrows become mathematics.
std::string EscapeLatex(const std::string& text);

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_TABLE_H_
