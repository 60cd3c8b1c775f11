#include "core/text/table.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/text/one_line.h"

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

std::string Padded(const std::string& cell, size_t width, bool left) {
  const std::string space(width - TextWidth(cell), ' ');
  return left ? cell + space : space + cell;
}

std::string Line(const std::vector<std::string>& row, const std::vector<size_t>& widths, size_t left_columns,
                 const std::string& separator) {
  std::string line;
  for (size_t c = 0; c < row.size(); ++c) {
    absl::StrAppend(&line, c == 0 ? "" : separator, Padded(row[c], widths[c], c < left_columns));
  }
  return line;
}

// A line without trailing spaces.
std::string Trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// A block of columns, and their widths.
struct Block {
  std::vector<size_t> columns;
  std::vector<size_t> widths;
};

// The cells of a row in these columns, on as many lines as the longest needs: heads are aligned at the bottom, others
// at the top.
std::string RowLines(const std::vector<std::string>& row, const Block& block, size_t left_columns, bool is_head) {
  std::vector<std::vector<std::string>> cells;
  size_t lines = 1;
  for (size_t b = 0; b < block.columns.size(); ++b) {
    const std::string& cell = row[block.columns[b]];
    const bool is_wrapped = is_head || TextWidth(cell) > block.widths[b];
    cells.push_back(is_wrapped ? WrapWords(cell, block.widths[b]) : std::vector<std::string>{cell});
    lines = std::max(lines, cells.back().size());
  }
  std::string text;
  for (size_t l = 0; l < lines; ++l) {
    std::vector<std::string> line;
    for (const std::vector<std::string>& cell : cells) {
      const size_t above = is_head ? lines - cell.size() : 0;
      line.push_back(l >= above && l - above < cell.size() ? cell[l - above] : "");
    }
    text += Trimmed(Line(line, block.widths, left_columns, "  "));
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

// Divides a table's columns into blocks, whose size does not depend on the number of columns, so that time and memory
// are linear in it.
class TextLayout {
 public:
  TextLayout(const Table& table, size_t width)
      : table_(table),
        width_(width),
        left_(std::min<size_t>(table.left_columns, table.header.size())),
        whole_(Widths(table)),
        wrapped_(Widths(table, WordWidth)),
        widest_from_(wrapped_) {
    for (size_t c = 0; c < left_; ++c) {
      least_.push_back(WordWidth(table.header[c]));
      for (const std::vector<std::string>& row : table.rows) least_[c] = std::max(least_[c], WordWidth(row[c]));
    }
    for (size_t c = widest_from_.size(); c-- > left_ + 1;) {
      widest_from_[c - 1] = std::max(widest_from_[c - 1], widest_from_[c]);
    }
  }

  std::string Text() const {
    std::string text;
    AddBlocks(left_, table_.header.size(), &text);
    return text;
  }

 private:
  // Adds the left columns and columns [first, end), in one block or several.
  void AddBlocks(size_t first, size_t end, std::string* text) const {
    while (true) {
      std::vector<size_t> left(whole_.begin(), whole_.begin() + static_cast<ptrdiff_t>(left_));
      const std::vector<size_t>* widths = &whole_;
      size_t fitting = Fitting(left, whole_, first, end);
      if (fitting < end || Total(left) > width_) {
        left.assign(wrapped_.begin(), wrapped_.begin() + static_cast<ptrdiff_t>(left_));
        if (first < end) NarrowLeft(first, end, &left);
        widths = &wrapped_;
        fitting = std::max(Fitting(left, wrapped_, first, end), std::min(first + 1, end));
      }
      if (fitting == end) return AddBlock(left, *widths, first, end, text);
      AddBlocks(first, fitting, text);
      *text += "\n";
      first = fitting;
    }
  }

  static size_t Total(const std::vector<size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), 2 * (std::max<size_t>(widths.size(), 1) - 1));
  }

  // Returns the end of the columns from `first` on that fit next to the left ones.
  size_t Fitting(const std::vector<size_t>& left, const std::vector<size_t>& widths, size_t first, size_t end) const {
    size_t total = Total(left);
    for (size_t c = first; c < end; ++c) {
      total += widths[c] + (left_ == 0 && c == first ? 0 : 2);
      if (total > width_) return c;
    }
    return end;
  }

  // Narrows the left columns, the widest first, until each of the other columns fits next to them or each left column
  // has the width of its longest word.
  void NarrowLeft(size_t first, size_t end, std::vector<size_t>* left) const {
    const size_t beside = end == wrapped_.size() ? widest_from_[first]
                                                 : *std::max_element(wrapped_.begin() + static_cast<ptrdiff_t>(first),
                                                                     wrapped_.begin() + static_cast<ptrdiff_t>(end));
    while (std::accumulate(left->begin(), left->end(), 2 * left_) + beside > width_) {
      size_t widest = left_;
      for (size_t c = 0; c < left_; ++c) {
        if ((*left)[c] > least_[c] && (widest == left_ || (*left)[c] > (*left)[widest])) widest = c;
      }
      if (widest == left_) return;
      --(*left)[widest];
    }
  }

  void AddBlock(const std::vector<size_t>& left, const std::vector<size_t>& widths, size_t first, size_t end,
                std::string* text) const {
    Block block{{}, left};
    for (size_t c = 0; c < left_; ++c) block.columns.push_back(c);
    for (size_t c = first; c < end; ++c) {
      block.columns.push_back(c);
      block.widths.push_back(widths[c]);
    }
    absl::StrAppend(text, RowLines(table_.header, block, left_, /*is_head=*/true),
                    std::string(Total(block.widths), '-'), "\n");
    for (const std::vector<std::string>& row : table_.rows) *text += RowLines(row, block, left_, /*is_head=*/false);
  }

  const Table& table_;
  const size_t width_;
  const size_t left_;                  // columns
  const std::vector<size_t> whole_;    // widths with heads on one line
  const std::vector<size_t> wrapped_;  // widths with heads on several lines
  std::vector<size_t> widest_from_;    // the largest of `wrapped_` from a column on, which is not a left one
  std::vector<size_t> least_;          // widths of the left columns
};

// A spreadsheet would evaluate a cell that starts like a formula.
std::string WithoutFormula(const std::string& cell) {
  double number = 0;
  const bool is_formula = !cell.empty() && absl::string_view("=+-@\t\r").find(cell[0]) != absl::string_view::npos &&
                          cell.size() > 1 && !absl::SimpleAtod(cell, &number);
  return is_formula ? absl::StrCat("'", cell) : cell;
}

}  // namespace

std::string FullPrecision(double value) {
  char shortest[32];  // "-1.2345e-06": all digits come before the "e"
  char* const end = std::to_chars(shortest, std::end(shortest), value, std::chars_format::scientific).ptr;
  const auto digits = std::count_if(shortest, std::find(shortest, end, 'e'), &absl::ascii_isdigit);
  return absl::StrFormat("%.*g", std::max(15, static_cast<int>(digits)), value);
}

std::string ToText(const Table& table, size_t width) {
  return TextLayout(Changed(table, [](const std::string& cell) { return OneLine(cell); }), width).Text();
}

std::vector<std::string> DropToFit(const std::vector<std::string>& expendable, size_t width, Table* table) {
  constexpr size_t kGap = 2;
  std::vector<std::string> dropped;
  for (const std::string& head : expendable) {
    const std::vector<size_t> widths = Widths(*table, WordWidth);
    if (std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1)) <= width) break;
    const auto found = std::find(table->header.begin(), table->header.end(), head);
    if (found == table->header.end()) continue;
    const ptrdiff_t column = found - table->header.begin();
    table->header.erase(found);
    for (std::vector<std::string>& row : table->rows) row.erase(row.begin() + column);
    if (column < table->left_columns) --table->left_columns;
    dropped.push_back(head);
  }
  return dropped;
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
  const auto left_columns = static_cast<size_t>(table.left_columns);
  std::string text = absl::StrCat("| ", Line(escaped.header, widths, left_columns, " | "), " |\n|");
  for (size_t c = 0; c < widths.size(); ++c) {
    const bool left = c < left_columns;
    absl::StrAppend(&text, left ? " :" : " ", std::string(widths[c] - 1, '-'), left ? " |" : ": |");
  }
  absl::StrAppend(&text, "\n");
  for (const std::vector<std::string>& row : escaped.rows) {
    absl::StrAppend(&text, "| ", Line(row, widths, left_columns, " | "), " |\n");
  }
  return text;
}

std::string EscapeMarkdown(const std::string& text) {
  return absl::StrReplaceAll(OneLine(text),
                             {{"\\", "\\\\"}, {"|", "\\|"}, {"<", "&lt;"}, {"`", "\\`"}, {"](", "]\\("}});
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string ToCsv(const Table& table) {
  std::string text;
  const auto append = [&text](const std::vector<std::string>& row) {
    for (size_t c = 0; c < row.size(); ++c) absl::StrAppend(&text, c == 0 ? "" : ",", CsvCell(WithoutFormula(row[c])));
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
                                             {" †", "$^\\dagger$"},
                                             {"↑", "$\\uparrow$"},
                                             {"↓", "$\\downarrow$"}});
}

std::string ToLatex(const Table& table) {
  // `number`: the row's, for its emphasis.
  const auto line = [&table](const std::vector<std::string>& row, size_t number) {
    std::string text = "  ";
    for (size_t c = 0; c < row.size(); ++c) {
      const Emphasis emphasis = table.EmphasisOf(number, c);
      std::string cell = EscapeLatex(row[c]);
      // A star takes no space, so that numbers stay aligned.
      if (c >= table.left_columns && absl::EndsWith(cell, "*")) cell.replace(cell.size() - 1, 1, "\\rlap{*}");
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
