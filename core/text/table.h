// Tables of text.
#ifndef OPENSET_CORE_TEXT_TABLE_H_
#define OPENSET_CORE_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/text/wrapped_text.h"

namespace openset {

// The emphasis of a cell in Markdown and LaTeX: bold, underlined.
enum class Emphasis { kNone, kBest, kSecond };

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;   // as long as the header
  int left_columns = 1;                         // aligned to the left; the others to the right
  std::vector<std::vector<Emphasis>> emphasis;  // by row and column; missing ones are kNone

  Emphasis EmphasisOf(size_t row, size_t column) const {
    return row < emphasis.size() && column < emphasis[row].size() ? emphasis[row][column] : Emphasis::kNone;
  }
};

// A number in a cell: the fewest of 15 to 17 significant digits that give the same double when read.
std::string FullPrecision(double value);

// Aligned columns, for a terminal. Cells are passed through OneLine() (core/text/one_line.h). Widths count UTF-8
// characters. If a table is wider than `width`, its header is wrapped. If that is not enough, its columns are divided
// into blocks, one below the other, each with the left columns. If a column does not fit next to the left columns,
// their cells are wrapped too.
std::string ToText(const Table& table, size_t width = kTextWidth);
// Removes columns with these heads, in this order, until ToText() shows the table in one piece of this width. Returns
// the removed heads. The table has no emphasis.
std::vector<std::string> DropToFit(const std::vector<std::string>& expendable, size_t width, Table* table);
// A pipe table. Text that Markdown would read as HTML, code, a link or a column is escaped.
std::string ToMarkdown(const Table& table);
// RFC 4180, with "\n" as line end. A cell that begins with =, +, -, @, a tab or a carriage return is prefixed with an
// apostrophe, because spreadsheets would read it as a formula, unless it is a number or this character alone.
std::string ToCsv(const Table& table);
// A cell of RFC 4180: in quotes if the text needs them.
std::string CsvCell(const std::string& text);

// A tabular with the rules of booktabs. Text that LaTeX would read as commands is escaped.
std::string ToLatex(const Table& table);

// Escapes text for Markdown, on one line, so that it makes no HTML, code, link or column.
std::string EscapeMarkdown(const std::string& text);

// Escapes text for LaTeX, on one line; ± and arrows become mathematics.
std::string EscapeLatex(const std::string& text);

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_TABLE_H_
