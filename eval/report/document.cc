#include "eval/report/document.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "core/suggest.h"

namespace openset {
namespace {

// Lines, each behind `prefix` and before `suffix`.
std::string Lines(const std::vector<std::string>& lines, const std::string& prefix, const std::string& suffix) {
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, prefix, line, suffix);
  return text;
}

std::string ToLatexComments(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, "% ", absl::StrReplaceAll(line, {{"\n", " "}}), "\n");
  return text;
}

}  // namespace

absl::StatusOr<TextFormat> ParseTextFormat(const std::string& name) {
  if (name == "text") return TextFormat::kText;
  if (name == "markdown") return TextFormat::kMarkdown;
  if (name == "csv") return TextFormat::kCsv;
  if (name == "json") return TextFormat::kJson;
  if (name == "latex") return TextFormat::kLatex;
  return absl::InvalidArgumentError(UnknownName("format", name, {"text", "markdown", "csv", "json", "latex"}));
}

std::string FormatDocument(const Document& document, TextFormat format) {
  std::string text;
  if (format == TextFormat::kLatex) {
    text = ToLatexComments(document.above);
    for (const DocumentSection& section : document.sections) {
      if (!section.title.empty()) text += ToLatexComments({section.title});
      text += ToLatex(section.table);
    }
    return text + ToLatexComments(document.below);
  }
  const bool markdown = format == TextFormat::kMarkdown;
  text = Lines(document.above, "", markdown ? "\n\n" : "\n");
  for (const DocumentSection& section : document.sections) {
    if (!text.empty() && !markdown) text += "\n";
    if (!section.title.empty()) absl::StrAppend(&text, section.title, "\n\n");
    text += markdown ? ToMarkdown(section.table) + "\n" : ToText(section.table);
  }
  if (!document.below.empty() && !markdown) text += "\n";
  return text + Lines(document.below, markdown ? "* " : "", "\n");
}

std::string ShowPValue(double p_value) { return p_value < 1e-4 ? "< 0.0001" : absl::StrFormat("%.4f", p_value); }

}  // namespace openset
