#include "core/text/table.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/text/one_line.h"
#include "core/text/wrapped_text.h"

namespace openset {
namespace {

// The width of the longest word.
size_t WordWidth(absl::string_view text) {
  size_t longest = 0;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) longest = std::max(longest, TextWidth(word));
  return longest;
}

// The widths that cells need, and that heads need according to `head_width`.
std::vector<size_t> Widths(const Table& table, size_t (*head_width)(absl::string_view) = TextWidth) {
  std::vector<size_t> widths;
  for (const std::string& head : table.header) widths.push_back(head_width(head));
  for (const std::vector<std::string>& row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], TextWidth(row[c]));
  }
  return widths;
}

size_t Total(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1));
}

std::string Padded(const std::string& cell, size_t width, bool left) {
  const std::string space(width - TextWidth(cell), ' ');
  return left ? cell + space : space + cell;
}

std::string Line(const Table& table, const std::vector<std::string>& row, const std::vector<size_t>& widths,
                 const std::string& separator) {
  std::string line;
  for (size_t c = 0; c < row.size(); ++c) {
    absl::StrAppend(&line, c == 0 ? "" : separator, Padded(row[c], widths[c], c < table.left_columns));
  }
  return line;
}

// A line without trailing spaces.
std::string Trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// The heads, on as many lines as they need, aligned at the bottom.
std::string HeadLines(const Table& table, const std::vector<size_t>& widths) {
  std::vector<std::vector<std::string>> heads;
  size_t lines = 1;
  for (size_t c = 0; c < table.header.size(); ++c) {
    heads.push_back(WrapWords(table.header[c], widths[c]));
    lines = std::max(lines, heads.back().size());
  }
  std::string text;
  for (size_t l = 0; l < lines; ++l) {
    std::vector<std::string> row;
    for (const std::vector<std::string>& head : heads) {
      const size_t above = lines - head.size();
      row.push_back(l < above ? "" : head[l - above]);
    }
    text += Trimmed(Line(table, row, widths, "  "));
  }
  return text;
}

// The left columns, and columns [first, end).
Table Columns(const Table& table, size_t first, size_t end) {
  const auto part = [&](const std::vector<std::string>& row) {
    std::vector<std::string> cells(row.begin(), row.begin() + table.left_columns);
    cells.insert(cells.end(), row.begin() + first, row.begin() + end);
    return cells;
  };
  Table columns{part(table.header), {}, table.left_columns};
  for (const std::vector<std::string>& row : table.rows) columns.rows.push_back(part(row));
  return columns;
}

// Returns how many columns fit; at least one in addition to the left ones.
size_t ColumnsWithin(const std::vector<size_t>& widths, size_t left_columns, size_t width) {
  size_t total = 0;
  for (size_t c = 0; c < widths.size(); ++c) {
    total += widths[c] + (c == 0 ? 0 : 2);
    if (total > width && c > left_columns) return c;
  }
  return widths.size();
}

// Narrows the left columns, the widest first, until each of the other columns fits next to them or each left column has
// the width of its longest word.
void NarrowLeftColumns(const Table& table, size_t width, std::vector<size_t>* widths) {
  const size_t left = table.left_columns;
  if (left >= widths->size()) return;
  std::vector<size_t> least;
  for (size_t c = 0; c < left; ++c) least.push_back(WordWidth(table.header[c]));
  for (const std::vector<std::string>& row : table.rows) {
    for (size_t c = 0; c < left; ++c) least[c] = std::max(least[c], WordWidth(row[c]));
  }
  const size_t beside = *std::max_element(widths->begin() + left, widths->end());
  while (std::accumulate(widths->begin(), widths->begin() + left, 2 * left) + beside > width) {
    size_t widest = left;
    for (size_t c = 0; c < left; ++c) {
      if ((*widths)[c] > least[c] && (widest == left || (*widths)[c] > (*widths)[widest])) widest = c;
    }
    if (widest == left) return;
    --(*widths)[widest];
  }
}

// A row. Its left cells may take several lines; the others are on the first line.
std::string RowLines(const Table& table, const std::vector<std::string>& row, const std::vector<size_t>& widths) {
  std::vector<std::vector<std::string>> cells;
  size_t lines = 1;
  for (size_t c = 0; c < row.size(); ++c) {
    cells.push_back(TextWidth(row[c]) > widths[c] ? WrapWords(row[c], widths[c]) : std::vector<std::string>{row[c]});
    lines = std::max(lines, cells.back().size());
  }
  std::string text;
  for (size_t l = 0; l < lines; ++l) {
    std::vector<std::string> line;
    for (const std::vector<std::string>& cell : cells) line.push_back(l < cell.size() ? cell[l] : "");
    text += Trimmed(Line(table, line, widths, "  "));
  }
  return text;
}

// Applies `change` to each cell, including heads.
Table Changed(Table table, const std::function<std::string(const std::string&)>& change) {
  for (std::string& head : table.header) head = change(head);
  for (std::vector<std::string>& row : table.rows) {
    for (std::string& cell : row) cell = change(cell);
  }
  return table;
}

std::string LinesOfText(const Table& table, size_t width) {
  std::vector<size_t> widths = Widths(table);
  if (Total(widths) > width) {
    widths = Widths(table, WordWidth);
    NarrowLeftColumns(table, width, &widths);
    if (const size_t fitting = ColumnsWithin(widths, table.left_columns, width); fitting < widths.size()) {
      return absl::StrCat(LinesOfText(Columns(table, table.left_columns, fitting), width), "\n",
                          LinesOfText(Columns(table, fitting, widths.size()), width));
    }
  }
  std::string text = absl::StrCat(HeadLines(table, widths), std::string(Total(widths), '-'), "\n");
  for (const std::vector<std::string>& row : table.rows) text += RowLines(table, row, widths);
  return text;
}

// A spreadsheet would evaluate a cell that starts like a formula.
std::string WithoutFormula(const std::string& cell) {
  double number = 0;
  const bool is_formula = !cell.empty() && absl::string_view("=+-@\t\r").find(cell[0]) != absl::string_view::npos &&
                          cell.size() > 1 && !absl::SimpleAtod(cell, &number);
  return is_formula ? absl::StrCat("'", cell) : cell;
}

}  // namespace

std::string FullPrecision(double value) { return absl::StrFormat("%.17g", value); }

std::string ToText(const Table& table, size_t width) {
  return LinesOfText(Changed(table, [](const std::string& cell) { return OneLine(cell); }), width);
}

std::string ToMarkdown(const Table& table) {
  Table escaped = Changed(table, EscapeMarkdown);
  for (size_t r = 0; r < escaped.rows.size(); ++r) {
    for (size_t c = 0; c < escaped.rows[r].size(); ++c) {
      std::string& cell = escaped.rows[r][c];
      const Emphasis emphasis = table.EmphasisOf(r, c);
      if (emphasis == Emphasis::kBest) cell = absl::StrCat("**", cell, "**");
      if (emphasis == Emphasis::kSecond) cell = absl::StrCat("<u>", cell, "</u>");
    }
  }
  std::vector<size_t> widths = Widths(escaped);
  for (size_t& width : widths) width = std::max<size_t>(width, 3);
  std::string text = absl::StrCat("| ", Line(escaped, escaped.header, widths, " | "), " |\n|");
  for (size_t c = 0; c < widths.size(); ++c) {
    const bool left = c < table.left_columns;
    absl::StrAppend(&text, left ? " :" : " ", std::string(widths[c] - 1, '-'), left ? " |" : ": |");
  }
  absl::StrAppend(&text, "\n");
  for (const std::vector<std::string>& row : escaped.rows) {
    absl::StrAppend(&text, "| ", Line(escaped, row, widths, " | "), " |\n");
  }
  return text;
}

std::string EscapeMarkdown(const std::string& text) {
  return absl::StrReplaceAll(OneLine(text),
                             {{"\\", "\\\\"}, {"|", "\\|"}, {"<", "&lt;"}, {"`", "\\`"}, {"](", "]\\("}});
}

std::string ToCsv(const Table& table) {
  std::string text;
  const auto append = [&text](const std::vector<std::string>& row) {
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string cell = WithoutFormula(row[c]);
      const bool quote = cell.find_first_of(",\"\n\r") != std::string::npos;
      absl::StrAppend(&text, c == 0 ? "" : ",",
                      quote ? absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"") : cell);
    }
    absl::StrAppend(&text, "\n");
  };
  append(table.header);
  for (const std::vector<std::string>& row : table.rows) append(row);
  return text;
}

std::string EscapeLatex(const std::string& text) {
  return absl::StrReplaceAll(OneLine(text), {{"\\", "\\textbackslash{}"},
                                             {"{", "\\{"},
                                             {"}", "\\}"},
                                             {"_", "\\_"},
                                             {"%", "\\%"},
                                             {"&", "\\&"},
                                             {"#", "\\#"},
                                             {"$", "\\$"},
                                             {"^", "\\^{}"},
                                             {"~", "\\~{}"},
                                             {"<", "$<$"},
                                             {">", "$>$"},
                                             {"|", "$|$"},
                                             {"±", "$\\pm$"},
                                             {"↑", "$\\uparrow$"},
                                             {"↓", "$\\downarrow$"}});
}

std::string ToLatex(const Table& table) {
  // `number`: that of the row, for its emphasis.
  const auto line = [&table](const std::vector<std::string>& row, size_t number) {
    std::string text = "  ";
    for (size_t c = 0; c < row.size(); ++c) {
      const Emphasis emphasis = table.EmphasisOf(number, c);
      std::string cell = EscapeLatex(row[c]);
      // A star takes no space, so that numbers stay aligned.
      if (c >= table.left_columns && absl::EndsWith(cell, "*")) {
        cell.replace(cell.size() - 1, 1, "\\rlap{*}");
      }
      absl::StrAppend(&text, c == 0 ? "" : " & ",
                      emphasis == Emphasis::kBest     ? "\\textbf{"
                      : emphasis == Emphasis::kSecond ? "\\underline{"
                                                      : "",
                      cell, emphasis == Emphasis::kNone ? "" : "}");
    }
    return absl::StrCat(text, " \\\\\n");
  };
  // Heads are no wider than their columns, but for short ones.
  constexpr size_t kShort = 16;
  const std::vector<size_t> widths = Widths(table, WordWidth);
  std::string columns;
  std::vector<std::string> heads;
  for (size_t c = 0; c < table.header.size(); ++c) {
    columns.push_back(c < table.left_columns ? 'l' : 'r');
    std::vector<std::string> lines = WrapWords(table.header[c], std::max(widths[c], kShort));
    for (std::string& words : lines) words = EscapeLatex(words);
    const std::string head = absl::StrJoin(lines, "\\\\");
    heads.push_back(lines.size() < 2 ? head : absl::StrCat("\\shortstack[", columns.substr(c), "]{", head, "}"));
  }
  std::string text = absl::StrCat("\\begin{tabular}{", columns, "}\n  \\toprule\n  ", absl::StrJoin(heads, " & "),
                                  " \\\\\n  \\midrule\n");
  for (size_t r = 0; r < table.rows.size(); ++r) text += line(table.rows[r], r);
  return absl::StrCat(text, "  \\bottomrule\n\\end{tabular}\n");
}

}  // namespace openset
