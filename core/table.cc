#include "core/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace openset {
namespace {

size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

std::vector<size_t> Widths(const Table& table) {
  std::vector<size_t> widths;
  for (const std::string& cell : table.header) widths.push_back(Width(cell));
  for (const std::vector<std::string>& row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], Width(row[c]));
  }
  return widths;
}

std::string Padded(const std::string& cell, size_t width, bool left) {
  const std::string space(width - Width(cell), ' ');
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

}  // namespace

std::string FullPrecision(double value) { return absl::StrFormat("%.17g", value); }

std::string ToText(const Table& table) {
  const std::vector<size_t> widths = Widths(table);
  size_t total = 2 * (widths.size() - 1);
  for (size_t width : widths) total += width;
  std::string text = absl::StrCat(Line(table, table.header, widths, "  "), "\n", std::string(total, '-'), "\n");
  for (const std::vector<std::string>& row : table.rows) {
    std::string line = Line(table, row, widths, "  ");
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string ToMarkdown(const Table& table) {
  Table escaped = table;
  for (size_t r = 0; r < escaped.rows.size(); ++r) {
    for (size_t c = 0; c < escaped.rows[r].size(); ++c) {
      std::string& cell = escaped.rows[r][c];
      cell = absl::StrReplaceAll(cell, {{"|", "\\|"}});
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

std::string ToCsv(const Table& table) {
  std::string text;
  const auto append = [&text](const std::vector<std::string>& row) {
    for (size_t c = 0; c < row.size(); ++c) {
      const bool quote = row[c].find_first_of(",\"\n\r") != std::string::npos;
      absl::StrAppend(&text, c == 0 ? "" : ",",
                      quote ? absl::StrCat("\"", absl::StrReplaceAll(row[c], {{"\"", "\"\""}}), "\"") : row[c]);
    }
    absl::StrAppend(&text, "\n");
  };
  append(table.header);
  for (const std::vector<std::string>& row : table.rows) append(row);
  return text;
}

std::string EscapeLatex(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\textbackslash{}"},
                                    {"{", "\\{"},
                                    {"}", "\\}"},
                                    {"_", "\\_"},
                                    {"%", "\\%"},
                                    {"&", "\\&"},
                                    {"#", "\\#"},
                                    {"$", "\\$"},
                                    {"^", "\\^{}"},
                                    {"~", "\\~{}"},
                                    {"±", "$\\pm$"},
                                    {"↑", "$\\uparrow$"},
                                    {"↓", "$\\downarrow$"},
                                    {"\n", " "}});
}

std::string ToLatex(const Table& table) {
  // `number`: that of the row, for its emphasis.
  const auto line = [&table](const std::vector<std::string>& row, size_t number) {
    std::string text = "  ";
    for (size_t c = 0; c < row.size(); ++c) {
      const Emphasis emphasis = table.EmphasisOf(number, c);
      absl::StrAppend(&text, c == 0 ? "" : " & ",
                      emphasis == Emphasis::kBest     ? "\\textbf{"
                      : emphasis == Emphasis::kSecond ? "\\underline{"
                                                      : "",
                      EscapeLatex(row[c]), emphasis == Emphasis::kNone ? "" : "}");
    }
    return absl::StrCat(text, " \\\\\n");
  };
  std::string columns;
  for (size_t c = 0; c < table.header.size(); ++c) columns.push_back(c < table.left_columns ? 'l' : 'r');
  std::string text = absl::StrCat("\\begin{tabular}{", columns, "}\n  \\toprule\n",
                                  line(table.header, table.rows.size()), "  \\midrule\n");
  for (size_t r = 0; r < table.rows.size(); ++r) text += line(table.rows[r], r);
  return absl::StrCat(text, "  \\bottomrule\n\\end{tabular}\n");
}

}  // namespace openset
