#include "eval/report/document.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/text/json_text.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"

namespace openset {
namespace {

constexpr const char* kCommands[] = {"openset compare", "openset run"};

std::string PlainText(const Document& document, size_t width) {
  std::string text;
  const auto add = [&](const std::string& line) { absl::StrAppend(&text, Wrapped(OneLine(line), width), "\n"); };
  for (const std::string& line : document.above) add(line);
  for (const DocumentSection& section : document.sections) {
    if (!text.empty()) text += "\n";
    if (!section.title.empty()) {
      add(section.title);
      text += "\n";
    }
    text += ToText(section.table, width);
  }
  if (!text.empty() && !document.below.empty()) text += "\n";
  for (const std::string& line : document.below) add(line);
  return text;
}

// A star at the beginning would start a list.
std::string MarkdownLine(const std::string& line) {
  std::string text = EscapeMarkdown(line);
  for (const char* command : kCommands) {
    text = absl::StrReplaceAll(text, {{absl::StrCat("\\`", command, "\\`"), absl::StrCat("`", command, "`")}});
  }
  return absl::StrCat(absl::StartsWith(text, "*") ? "\\" : "", text);
}

// With a title, lines are paragraphs; without one, those below are a list.
std::string Markdown(const Document& document) {
  std::string text;
  const auto add = [&](const char* before, const std::string& line) {
    if (!line.empty()) absl::StrAppend(&text, before, MarkdownLine(line), "\n\n");
  };
  add("# ", document.title);
  for (const std::string& line : document.above) add("", line);
  for (const DocumentSection& section : document.sections) {
    add(document.title.empty() ? "" : "## ", section.title);
    absl::StrAppend(&text, ToMarkdown(section.table), "\n");
  }
  for (const std::string& line : document.below) {
    if (document.title.empty()) {
      absl::StrAppend(&text, "* ", EscapeMarkdown(line), "\n");
    } else {
      add("", line);
    }
  }
  if (!document.title.empty()) text.pop_back();  // the last blank line
  return text;
}

std::string LatexLine(const std::string& line) {
  std::string text = EscapeLatex(line);
  for (const char* command : kCommands) {
    text = absl::StrReplaceAll(text, {{absl::StrCat("`", command, "`"), absl::StrCat("\\texttt{", command, "}")}});
  }
  return text;
}

// "tab:study-2".
std::string LatexLabel(const std::string& title, size_t number) {
  std::string name = OneLine(title);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '-';
  }
  return absl::StrCat("tab:", name, number > 1 ? absl::StrCat("-", number) : "");
}

std::string Latex(const Document& document) {
  const bool has_floats = !document.title.empty();
  std::string text = has_floats ? "% needs \\usepackage{booktabs}\n" : "";
  const auto comment = [&](const std::string& line) {
    if (!line.empty()) absl::StrAppend(&text, "% ", OneLine(line), "\n");
  };
  for (const std::string& line : document.above) comment(line);
  size_t number = 0;
  for (const DocumentSection& section : document.sections) {
    if (!has_floats) {
      comment(section.title);
      text += ToLatex(section.table);
      continue;
    }
    absl::StrAppend(&text, "\\begin{table}\n  \\centering\n  \\caption{", EscapeLatex(section.title), ".}\n  \\label{",
                    LatexLabel(document.title, ++number), "}\n", ToLatex(section.table));
    if (!section.note.empty()) {
      absl::StrAppend(&text, "\\par\n{\\footnotesize\\raggedright ", LatexLine(section.note), "\\par}\n");
    }
    text += "\\end{table}\n";
  }
  for (const std::string& line : document.below) {
    if (has_floats && !line.empty()) absl::StrAppend(&text, "{\\footnotesize ", LatexLine(line), "\\par}\n");
    if (!has_floats) comment(line);
  }
  return text;
}

}  // namespace

std::string FormatName(TextFormat format) {
  constexpr const char* kNames[] = {"text",     "markdown", "latex",       "csv", "json",
                                    "sentence", "html",     "tensorboard", "tidy"};
  return kNames[static_cast<int>(format)];
}

absl::StatusOr<TextFormat> ParseTextFormat(const std::string& name, const std::vector<TextFormat>& known) {
  std::vector<std::string> names;
  for (const TextFormat format : known) {
    names.push_back(FormatName(format));
    if (names.back() == name) return format;
  }
  return absl::InvalidArgumentError(UnknownName("format", name, names));
}

std::string FormatDocument(const Document& document, TextFormat format, size_t width) {
  if (format == TextFormat::kMarkdown) return Markdown(document);
  return format == TextFormat::kLatex ? Latex(document) : PlainText(document, width);
}

std::string FormatTable(const Table& table, TextFormat format, size_t width) {
  if (format == TextFormat::kMarkdown) return ToMarkdown(table);
  if (format == TextFormat::kLatex) return ToLatex(table);
  return format == TextFormat::kCsv ? ToCsv(table) : ToText(table, width);
}

namespace {

std::string TextOfElement(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return FullPrecision(value.get<double>());
  if (!value.is_array()) return JsonText(value);
  return absl::StrJoin(value, " ", [](std::string* out, const auto& element) { out->append(TextOfElement(element)); });
}

}  // namespace

std::string JsonToCsv(absl::string_view columns, const nlohmann::ordered_json& objects) {
  Table table;
  table.header = absl::StrSplit(columns, ',');
  for (const nlohmann::ordered_json& object : objects) {
    std::vector<std::string>& row = table.rows.emplace_back();
    for (const std::string& column : table.header) {
      const auto member = object.find(column);
      row.push_back(member == object.end() ? "" : TextOfElement(*member));
    }
  }
  return ToCsv(table);
}

}  // namespace openset
