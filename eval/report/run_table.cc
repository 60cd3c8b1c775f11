#include "eval/report/run_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/files/formats/csv.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/metric.pb.h"
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
  return absl::StrCat(task, task.empty() ? "" : ", ", unknown_classes,
                      unknown_classes == "1" ? " unknown class" : " unknown classes");
}

// The names of all metrics.
const std::vector<std::string>& MetricNames() {
  static const auto* names = [] {
    auto* all = new std::vector<std::string>;
    for (const MetricSpec& metric : AllMetrics()) all->push_back(MetricName(metric));
    return all;
  }();
  return *names;
}

// Whether it is a metric's name in records, also at a level ("fpr_at_0.80tpr").
bool IsMetric(const std::string& name) {
  return absl::c_linear_search(MetricNames(), name) || MetricOfLevelName(name).has_value();
}

// Our name of a metric that has this or a usual name. Absent for other names.
std::optional<std::string> MetricOf(const std::string& name) {
  return IsMetric(name) ? name : ResolveSynonym(name, MetricNames());
}

// Errors: the value is not finite or a duplicate.
absl::Status Add(const std::string& metric, const std::string& method, const std::string& block,
                 const std::string& unknown_classes, const Run& run, double value, RunTable* table) {
  const std::string task = LevelName(block, unknown_classes);
  if (!std::isfinite(value)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", metric, "' is ", value, "; leave the cell empty if there is no value"));
  }
  if (!table->value[metric][method][task].emplace(run, value).second) {
    return absl::AlreadyExistsError(absl::StrCat("there is a value of '", metric, "' for ", method,
                                                 task.empty() ? "" : ", ", task, run.split.empty() ? "" : ", split ",
                                                 run.split, run.seed.empty() ? "" : ", seed ", run.seed, " already"));
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

// The columns of a table.
struct Columns {
  std::vector<std::string> header;                 // by ColumnName()
  bool tidy = false;                               // a row for each run and metric
  std::vector<std::optional<std::string>> metric;  // of a table with a column for each: our name of the metric

  bool Has(const std::string& name) const { return absl::c_linear_search(header, name); }
};

// What names a run.
constexpr const char* kKeys[] = {"method", "task", "unknown_classes", "split", "seed", "group"};

// Errors: no method, no metric, or two columns for the same. Adds those that are ignored to the table.
absl::StatusOr<Columns> ColumnsOf(absl::Span<const absl::string_view> cells, RunTable* table) {
  Columns columns;
  for (absl::string_view cell : cells) columns.header.push_back(ColumnName(cell));
  const std::string there = absl::StrCat("(there are ", absl::StrJoin(columns.header, ", "), ")");
  if (!columns.Has("method")) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no column 'method' ", there,
                     ": give this name to the column that says which method a row is of; to compare scores on the same "
                     "samples give two files"));
  }
  columns.tidy = columns.Has("metric") && columns.Has("value");
  columns.metric.resize(columns.header.size());
  std::map<std::string, std::string> seen;  // columns by what they are
  for (size_t c = 0; c < columns.header.size(); ++c) {
    const std::string& name = columns.header[c];
    const bool is_key = absl::c_linear_search(kKeys, name) || (columns.tidy && (name == "metric" || name == "value"));
    if (!is_key && (columns.tidy || IsIndexColumn(name))) continue;
    if (!is_key) columns.metric[c] = MetricOf(name);
    if (!is_key && !columns.metric[c].has_value()) {
      AddOnce(name, &table->ignored);
      continue;
    }
    const auto [other, is_new] = seen.emplace(columns.metric[c].value_or(name), name);
    if (is_new) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the columns '", other->second, "' and '", name, "' are both ", other->first));
  }
  const bool any = absl::c_any_of(columns.metric, [](const auto& metric) { return metric.has_value(); });
  if (any || columns.tidy || table->ignored.empty()) return columns;
  std::string unknown = UnknownName("metric", table->ignored[0], MetricNames());
  for (const std::string& name : table->ignored) {
    std::string text = UnknownName("metric", name, MetricNames());
    if (!absl::StrContains(text, "did you mean")) continue;
    unknown = std::move(text);
    break;
  }
  return absl::InvalidArgumentError(absl::StrCat("no column is a metric ", there, ": ", unknown));
}

// What a table lacks that has two rows for a run.
std::string MissingKeys(const Columns& columns, const RunTable& table) {
  std::vector<std::string> missing;
  for (const char* name : {"task", "split", "seed"}) {
    if (!columns.Has(name)) missing.push_back(absl::StrCat("'", name, "'"));
  }
  std::string text;
  if (!missing.empty()) {
    absl::StrAppend(&text,
                    "; a method's runs are told apart by the columns 'task', 'split' and 'seed', and there is no ",
                    absl::StrJoin(missing, " and no "));
  }
  if (!table.ignored.empty()) {
    absl::StrAppend(&text, missing.empty() ? "; these columns don't tell runs apart: " : " (there are ",
                    absl::StrJoin(table.ignored, ", "), missing.empty() ? "" : ")");
  }
  return text;
}

absl::Status AddRow(int64_t line, absl::Span<const absl::string_view> cells, const Columns& columns,
                    const std::string& group, RunTable* table) {
  const std::vector<std::string>& header = columns.header;
  std::map<std::string, std::string> key;
  for (size_t c = 0; c < cells.size(); ++c) {
    if (columns.tidy || absl::c_linear_search(kKeys, header[c])) key[header[c]] = OneLine(cells[c]);
  }
  for (const char* name : {"split", "seed", "unknown_classes"}) key[name] = WholeText(key[name]);
  const std::string of_group = key["group"].empty() ? kPool : key["group"];
  AddOnce(of_group, &table->groups);
  if (of_group != group) return absl::OkStatus();
  const auto add = [&](const std::string& metric, const std::string& method, double value) {
    absl::Status status = key["method"].empty() ? absl::InvalidArgumentError("column 'method' is empty")
                                                : Add(metric, method, key["task"], key["unknown_classes"],
                                                      {key["split"], key["seed"]}, value, table);
    if (absl::IsAlreadyExists(status)) {
      status = absl::InvalidArgumentError(absl::StrCat(status.message(), MissingKeys(columns, *table)));
    }
    return Annotate(status, absl::StrCat("line ", line));
  };
  if (columns.tidy) {
    if (key["value"].empty()) return absl::OkStatus();
    const std::optional<std::string> metric = MetricOf(key["metric"]);
    if (!metric.has_value()) {
      AddOnce(key["metric"], &table->ignored);
      return absl::OkStatus();
    }
    OPENSET_ASSIGN_OR_RETURN(const double value, ParseValue(key["value"], "value", line));
    return add(*metric, TidyMethod(header, cells, key["method"]), value);
  }
  bool any = false;
  for (size_t c = 0; c < cells.size(); ++c) {
    if (!columns.metric[c].has_value() || cells[c].empty()) continue;
    any = true;
    OPENSET_ASSIGN_OR_RETURN(const double value, ParseValue(cells[c], header[c], line));
    OPENSET_RETURN_IF_ERROR(add(*columns.metric[c], key["method"], value));
  }
  if (!any) table->empty.push_back(absl::StrCat("line ", line));
  return absl::OkStatus();
}

// Errors: no results, or not of this group.
absl::Status Check(const RunTable& table, const std::string& group) {
  if (!table.groups.empty() && !absl::c_linear_search(table.groups, group)) {
    return absl::InvalidArgumentError(UnknownName("group", group, table.groups));
  }
  if (!table.metrics.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there are no results", table.ignored.empty() ? ""
                                                                 : absl::StrCat(" of metrics that are known, only of ",
                                                                                absl::StrJoin(table.ignored, ", "))));
}

absl::StatusOr<RunTable> ParseCsvRuns(absl::string_view text, const std::string& group) {
  RunTable table;
  Columns columns;
  OPENSET_RETURN_IF_ERROR(ReadCsv(text, [&](int64_t line, absl::Span<const absl::string_view> cells) -> absl::Status {
    if (!columns.header.empty()) return AddRow(line, cells, columns, group, &table);
    OPENSET_ASSIGN_OR_RETURN(columns, ColumnsOf(cells, &table), "line 1");
    return absl::OkStatus();
  }));
  OPENSET_RETURN_IF_ERROR(Check(table, group));
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

// Throws if a key is missing.
Display ReadDisplay(const nlohmann::ordered_json& cell) {
  Display display;
  display.label = cell.value("column", cell.at("label").get<std::string>());  // the same for all methods
  display.value_unit = cell.at("unit").get<std::string>();
  display.factor = cell.at("display").at("factor").get<double>();
  display.digits = std::clamp(cell.at("display").at("digits").get<int>(), 0, 15);
  display.unit = cell.at("display").at("unit").get<std::string>();
  const nlohmann::ordered_json& higher = cell.at("higher_is_better");
  if (!higher.is_null()) display.higher_is_better = higher.get<bool>();
  return display;
}

absl::StatusOr<RunTable> ParseReport(absl::string_view text, const std::string& group) {
  std::vector<RunCell> cells;
  std::string baseline;
  try {  // the library's only way to tell that a key is missing or of another type
    const nlohmann::ordered_json report = nlohmann::ordered_json::parse(text);
    baseline = report.value("baseline", "");
    for (const nlohmann::ordered_json& cell : report.at("cells")) {
      std::vector<std::pair<Run, double>> values;
      for (size_t i = 0; i < cell.at("values").size(); ++i) {
        values.push_back({{JsonText(cell.at("splits").at(i)), JsonText(cell.at("seeds").at(i)),
                           cell.contains("draws") ? JsonText(cell["draws"].at(i)) : ""},
                          cell.at("values")[i].get<double>()});
      }
      cells.push_back({cell.value("group", kPool), cell.at("metric").get<std::string>(), MethodName(cell),
                       cell.at("task").get<std::string>(), JsonText(cell.at("unknown_classes")), std::move(values),
                       cell.contains("display") ? std::optional<Display>(ReadDisplay(cell)) : std::nullopt});
    }
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("not in the format of `openset report --format=json`: ", OneLine(error.what())));
  }
  OPENSET_ASSIGN_OR_RETURN(RunTable table, RunTableOfCells(cells, group));
  table.baseline = std::move(baseline);
  return table;
}

}  // namespace

absl::StatusOr<RunTable> RunTableOfCells(const std::vector<RunCell>& cells, const std::string& group) {
  RunTable table;
  for (const RunCell& cell : cells) {
    AddOnce(cell.group, &table.groups);
    if (cell.group != group) continue;
    if (!cell.display.has_value() && !IsMetric(cell.metric)) {
      AddOnce(cell.metric, &table.ignored);
      continue;
    }
    if (cell.display.has_value()) table.display.emplace(cell.metric, *cell.display);
    for (const auto& [run, value] : cell.values) {
      const absl::Status status = Add(cell.metric, cell.method, cell.task, cell.unknown_classes, run, value, &table);
      if (!status.ok()) return absl::InvalidArgumentError(status.message());
    }
  }
  OPENSET_RETURN_IF_ERROR(Check(table, group));
  return table;
}

absl::StatusOr<RunTable> ReadRunTable(const std::string& path, const std::string& group) {
  const bool csv = absl::EndsWith(path, ".csv") || absl::EndsWith(path, ".tsv");
  if (!csv && !absl::EndsWith(path, ".json")) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": results of runs are in a .csv, or in a .json that `openset report` wrote; to compare scores on the "
        "same samples give two files"));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxTableBytes));
  OPENSET_ASSIGN_OR_RETURN(RunTable table, csv ? ParseCsvRuns(text, group) : ParseReport(text, group), path);
  return table;
}

}  // namespace openset
