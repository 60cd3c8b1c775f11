// Tables with titles and text, in human-readable formats.
#ifndef OPENSET_EVAL_REPORT_DOCUMENT_H_
#define OPENSET_EVAL_REPORT_DOCUMENT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/text/table.h"
#include "core/text/wrapped_text.h"

namespace openset {

// An explanation of the columns with intervals at Holm's levels (eval/statistics/paired_tests.h).
inline constexpr char kHolmColumns[] =
    "low, high (Holm): the interval at the level of Holm's procedure, which excludes 0 if there is a difference";

struct DocumentSection {
  std::string title;  // may be empty
  Table table;
};

struct Document {
  std::vector<std::string> above;
  std::vector<DocumentSection> sections;
  std::vector<std::string> below;
};

enum class TextFormat { kText, kMarkdown, kCsv, kJson, kLatex };
// Parses a format's name. Errors: kInvalidArgument with the known names.
absl::StatusOr<TextFormat> ParseTextFormat(const std::string& name);

// As kText (lines wrapped to the width of tables), kMarkdown or kLatex (booktabs; titles and lines as comments).
// `width`: the width of text. Precondition: the format is one of these.
std::string FormatDocument(const Document& document, TextFormat format, size_t width = kTextWidth);

// "0.0312"; "< 0.0001" below that.
std::string ShowPValue(double p_value);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_DOCUMENT_H_
