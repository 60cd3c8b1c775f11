#include "eval/report/document.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "core/text/wrapped_text.h"

namespace openset {
namespace {

// Lines as Markdown, each between `prefix` and `suffix`.
std::string MarkdownLines(const std::vector<std::string>& lines, const std::string& prefix, const std::string& suffix) {
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, prefix, EscapeMarkdown(line), suffix);
  return text;
}

std::string ToPlainText(const Document& document, size_t width) {
  std::string text;
  const auto add = [&](const std::string& line) { absl::StrAppend(&text, Wrapped(line, width), "\n"); };
  for (const std::string& line : document.above) add(line);
  for (const DocumentSection& section : document.sections) {
    if (!text.empty()) text += "\n";
    if (!section.title.empty()) add(absl::StrCat(section.title, "\n"));
    text += ToText(section.table, width);
  }
  if (!document.below.empty()) text += "\n";
  for (const std::string& line : document.below) add(line);
  return text;
}

std::string ToMarkdownText(const Document& document) {
  std::string text = MarkdownLines(document.above, "", "\n\n");
  for (const DocumentSection& section : document.sections) {
    if (!section.title.empty()) absl::StrAppend(&text, EscapeMarkdown(section.title), "\n\n");
    absl::StrAppend(&text, ToMarkdown(section.table), "\n");
  }
  return text + MarkdownLines(document.below, "* ", "\n");
}

std::string ToLatexComments(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, "% ", OneLine(line), "\n");
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

std::string FormatDocument(const Document& document, TextFormat format, size_t width) {
  if (format == TextFormat::kText) return ToPlainText(document, width);
  if (format == TextFormat::kMarkdown) return ToMarkdownText(document);
  std::string text = ToLatexComments(document.above);
  for (const DocumentSection& section : document.sections) {
    if (!section.title.empty()) text += ToLatexComments({section.title});
    text += ToLatex(section.table);
  }
  return text + ToLatexComments(document.below);
}

std::string ShowPValue(double p_value) { return p_value < 1e-4 ? "< 0.0001" : absl::StrFormat("%.4f", p_value); }

}  // namespace openset
