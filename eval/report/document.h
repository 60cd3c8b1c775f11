// Documents of lines and tables, and the writer of each format.
#ifndef OPENSET_EVAL_REPORT_DOCUMENT_H_
#define OPENSET_EVAL_REPORT_DOCUMENT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/text/table.h"
#include "core/text/wrapped_text.h"
#include "nlohmann/json_fwd.hpp"

namespace openset {

// kTidy has no name of its own: it is csv with --tidy.
enum class TextFormat { kText, kMarkdown, kLatex, kCsv, kJson, kSentence, kHtml, kTensorBoard, kTidy };

// "markdown".
std::string FormatName(TextFormat format);
// Errors: kInvalidArgument with the known names.
absl::StatusOr<TextFormat> ParseTextFormat(const std::string& name, const std::vector<TextFormat>& known);

struct DocumentSection {
  std::string title;  // may be empty
  Table table;
  std::string note = "";  // below the table in LaTeX's float; other formats have it once, among `below`
};

// Lines are text: what a format would read as commands is escaped, except for the names of openset's commands in
// backticks, which are set as code.
struct Document {
  std::string title;  // may be empty
  std::vector<std::string> above;
  std::vector<DocumentSection> sections;
  std::vector<std::string> below;  // an empty one separates lines in text
};

// As kText (without the title; lines wrapped to `width`), kMarkdown (titles of sections are headings if there is a
// title) or kLatex (booktabs; the lines above are comments). In LaTeX, if there is a title, each section is a float
// with its title as caption and the label "tab:TITLE-2", and the lines below are small print; otherwise titles and
// lines are comments. Precondition: the format is one of these.
std::string FormatDocument(const Document& document, TextFormat format, size_t width = kTextWidth);

// As kText, kMarkdown, kLatex or kCsv. Precondition: the format is one of these.
std::string FormatTable(const Table& table, TextFormat format, size_t width = kTextWidth);

// CSV with a row for each object and the named members, "name,name,...". Numbers have full precision, a list has blanks
// between its elements, and null and a member that an object lacks are empty.
std::string JsonToCsv(absl::string_view columns, const nlohmann::ordered_json& objects);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_DOCUMENT_H_
