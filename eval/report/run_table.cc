#include "eval/report/run_table.h"

#include <cmath>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "eval/files/csv.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

constexpr char kPool[] = "pool";

void AddOnce(const std::string& name, std::vector<std::string>* names) {
  if (!absl::c_linear_search(*names, name)) names->push_back(name);
}

// A task with a level of openness.
std::string LevelName(const std::string& task, const std::string& unknown_classes) {
  if (unknown_classes.empty()) return task;
  return absl::StrCat(task, task.empty() ? "" : ", ", unknown_classes, " unknown classes");
}

// Errors: the value is not finite or a duplicate.
absl::Status Add(const std::string& metric, const std::string& method, const std::string& block,
                 const std::string& unknown_classes, const Run& run, double value, RunTable* table) {
  const std::string task = LevelName(block, unknown_classes);
  if (!std::isfinite(value)) return absl::InvalidArgumentError(absl::StrCat("'", metric, "' is ", value));
  if (!table->value[metric][method][task].emplace(run, value).second) {
    return absl::InvalidArgumentError(absl::StrCat("there is a value of '", metric, "' for ", method, ", ",
                                                   task.empty() ? "" : task + ", ", "split ", run.split, ", seed ",
                                                   run.seed, " already"));
  }
  AddOnce(method, &table->methods);
  AddOnce(task, &table->tasks);
  AddOnce(metric, &table->metrics);
  table->block[task] = block;
  return absl::OkStatus();
}

// Whether a column of a table with a row for each run and metric (`openset report --format=csv --tidy`) is not a swept
// field.
bool IsTidyColumn(const std::string& name) {
  constexpr const char* kColumns[] = {"trial",
                                      "method",
                                      "task",
                                      "split",
                                      "seed",
                                      "unknown_classes",
                                      "group",
                                      "metric",
                                      "value",
                                      "unit",
                                      "better",
                                      "openness",
                                      "low",
                                      "high",
                                      "outputs",
                                      "checkpoint",
                                      "known_classes",
                                      "known_samples",
                                      "unknown_samples",
                                      "known_per_unknown"};
  return absl::c_linear_search(kColumns, name);
}

// The index column of pandas; "Unnamed: 0" if such a table was read and written again.
bool IsIndexColumn(const std::string& name) { return name.empty() || absl::StartsWith(name, "Unnamed: "); }

// In lower case if it is one of the columns that this file names.
std::string ColumnName(absl::string_view cell) {
  const std::string name = OneLine(absl::StripAsciiWhitespace(cell));
  const std::string lower = absl::AsciiStrToLower(name);
  return IsTidyColumn(lower) ? lower : name;
}

// A split, seed or number of classes: "3" for "3.0", which is how pandas writes integers if values are missing.
std::string WholeText(const std::string& cell) {
  double value = 0;
  const bool whole = absl::StrContains(cell, '.') && absl::SimpleAtod(cell, &value) && value == std::floor(value);
  return whole && std::abs(value) < 1e15 ? absl::StrCat(static_cast<int64_t>(value)) : cell;
}

// "METHOD, AXIS VALUE", as for reports in JSON.
std::string TidyMethod(const std::vector<std::string>& header, absl::Span<const absl::string_view> cells,
                       const std::string& method) {
  std::string name = method;
  for (size_t c = 0; c < cells.size(); ++c) {
    if (IsTidyColumn(header[c]) || IsIndexColumn(header[c]) || cells[c].empty()) continue;
    absl::StrAppend(&name, ", ", header[c], " ", OneLine(cells[c]));
  }
  return name;
}

absl::StatusOr<double> ParseValue(absl::string_view cell, const std::string& column, int64_t line) {
  double value = 0;
  if (absl::SimpleAtod(cell, &value)) return value;
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line, ": column '", column, "': '", OneLine(cell.substr(0, 40)), "' is not a number"));
}

absl::StatusOr<RunTable> ParseCsvRuns(absl::string_view text, const std::string& group) {
  RunTable table;
  std::vector<std::string> header;
  OPENSET_RETURN_IF_ERROR(ReadCsv(text, [&](int64_t line, absl::Span<const absl::string_view> cells) -> absl::Status {
    if (header.empty()) {
      for (absl::string_view cell : cells) header.push_back(ColumnName(cell));
      if (absl::c_linear_search(header, "method")) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("line 1: there is no column 'method' (there are ",
                                                     absl::StrJoin(header, ", "),
                                                     "); to compare scores on the same samples give two files"));
    }
    std::map<std::string, std::string> key;
    for (size_t c = 0; c < cells.size(); ++c) key[header[c]] = OneLine(cells[c]);
    for (const char* name : {"split", "seed", "unknown_classes"}) key[name] = WholeText(key[name]);
    const std::string of_group = key["group"].empty() ? kPool : key["group"];
    AddOnce(of_group, &table.groups);
    if (of_group != group) return absl::OkStatus();
    if (key.count("metric") > 0 && key.count("value") > 0) {
      if (key["value"].empty()) return absl::OkStatus();
      OPENSET_ASSIGN_OR_RETURN(const double value, ParseValue(key["value"], "value", line));
      return Annotate(Add(key["metric"], TidyMethod(header, cells, key["method"]), key["task"], key["unknown_classes"],
                          {key["split"], key["seed"]}, value, &table),
                      absl::StrCat("line ", line));
    }
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string& name = header[c];
      if (name == "method" || name == "task" || name == "unknown_classes" || name == "split" || name == "seed" ||
          name == "group" || IsIndexColumn(name) || cells[c].empty()) {
        continue;
      }
      OPENSET_ASSIGN_OR_RETURN(const double value, ParseValue(cells[c], name, line));
      OPENSET_RETURN_IF_ERROR(Annotate(
          Add(name, key["method"], key["task"], key["unknown_classes"], {key["split"], key["seed"]}, value, &table),
          absl::StrCat("line ", line)));
    }
    return absl::OkStatus();
  }));
  return table;
}

// "METHOD, AXIS VALUE".
std::string MethodName(const nlohmann::ordered_json& cell) {
  std::string name = cell.at("method").get<std::string>();
  if (!cell.contains("axis")) return name;
  for (const auto& [axis, value] : cell.at("axis").items()) {
    absl::StrAppend(&name, ", ", axis, " ", value.is_string() ? value.get<std::string>() : JsonText(value));
  }
  return name;
}

absl::StatusOr<RunTable> ParseReport(absl::string_view text, const std::string& group) {
  RunTable table;
  try {  // the library's only way to tell that a key is missing or of another type
    const nlohmann::ordered_json report = nlohmann::ordered_json::parse(text);
    table.baseline = report.value("baseline", "");
    for (const nlohmann::ordered_json& cell : report.at("cells")) {
      const std::string of_group = cell.value("group", kPool);
      AddOnce(of_group, &table.groups);
      if (of_group != group) continue;
      const auto& values = cell.at("values");
      for (size_t i = 0; i < values.size(); ++i) {
        const Run run = {JsonText(cell.at("splits").at(i)), JsonText(cell.at("seeds").at(i))};
        OPENSET_RETURN_IF_ERROR(Add(cell.at("metric").get<std::string>(), MethodName(cell),
                                    cell.at("task").get<std::string>(), JsonText(cell.at("unknown_classes")), run,
                                    values[i].get<double>(), &table));
      }
    }
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("not in the format of `openset report --format=json`: ", OneLine(error.what())));
  }
  return table;
}

}  // namespace

absl::StatusOr<RunTable> ReadRunTable(const std::string& path, const std::string& group) {
  const bool csv = absl::EndsWith(path, ".csv") || absl::EndsWith(path, ".tsv");
  if (!csv && !absl::EndsWith(path, ".json")) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": results of runs are in a .csv, or in a .json that `openset report` wrote; to compare scores on the "
        "same samples give two files"));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxTableBytes));
  absl::StatusOr<RunTable> table = csv ? ParseCsvRuns(text, group) : ParseReport(text, group);
  if (!table.ok()) return Annotate(table.status(), path);
  if (!table->groups.empty() && !absl::c_linear_search(table->groups, group)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", UnknownName("group", group, table->groups)));
  }
  if (table->metrics.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": there are no results"));
  return table;
}

}  // namespace openset
