#include "experiments/report/format_report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/suggest.h"
#include "core/table.h"
#include "experiments/store/metric_groups.h"

namespace openset {
namespace {

std::string CellText(const ReportCell& cell) {
  if (cell.n == 0) return cell.missing > 0 ? "-" : "undefined";
  std::string text = Shown(cell.mean, cell.display);
  if (cell.n > 1) absl::StrAppend(&text, " ± ", Shown(cell.std, cell.display));
  if (cell.n == 1 && cell.intervals[0].has_value()) {
    const auto& [low, high] = *cell.intervals[0];
    absl::StrAppend(&text, " [", Shown(low, cell.display), ", ", Shown(high, cell.display), "]");
  }
  if (cell.missing > 0 || !cell.absent_reasons.empty()) absl::StrAppend(&text, " (n=", cell.n, ")");
  return text;
}

// "AUROC, % ↑".
std::string ColumnHead(const Display& display) {
  if (!display.higher_is_better.has_value()) return LabelWithUnit(display);
  return absl::StrCat(LabelWithUnit(display), *display.higher_is_better ? " ↑" : " ↓");
}

struct TitledTable {
  std::string title;
  Table table;                                        // the first columns are the method and, among sets, the set
  std::vector<std::vector<const ReportCell*>> cells;  // what is shown in the table's cells
};

// Puts a cell into its row, that of the last cell or a new one, and its column, that of its metric.
void Put(const ReportCell& cell, const std::vector<std::string>& row_names, TitledTable* titled) {
  Table* table = &titled->table;
  const std::string head = ColumnHead(cell.display);
  auto column = std::find(table->header.begin(), table->header.end(), head);
  if (column == table->header.end()) column = table->header.insert(column, head);
  const size_t at = column - table->header.begin();
  const bool same_row =
      !table->rows.empty() && std::equal(row_names.begin(), row_names.end(), table->rows.back().begin());
  if (!same_row) {
    table->rows.push_back(row_names);
    titled->cells.emplace_back();
  }
  std::vector<std::string>& row = table->rows.back();
  row.resize(std::max(row.size(), at + 1));
  row[at] = CellText(cell);
  titled->cells.back().resize(row.size());
  titled->cells.back()[at] = &cell;
}

// Marks the best and the second best mean of each column.
void Emphasise(TitledTable* titled) {
  Table& table = titled->table;
  table.emphasis.assign(table.rows.size(), std::vector<Emphasis>(table.header.size(), Emphasis::kNone));
  for (size_t c = table.left_columns; c < table.header.size(); ++c) {
    const auto cell_of = [&](size_t r) { return c < titled->cells[r].size() ? titled->cells[r][c] : nullptr; };
    std::set<double> qualities;  // larger = better
    for (size_t r = 0; r < table.rows.size(); ++r) {
      const ReportCell* cell = cell_of(r);
      if (cell == nullptr || cell->n == 0 || !cell->display.higher_is_better.has_value()) continue;
      qualities.insert(*cell->display.higher_is_better ? cell->mean : -cell->mean);
    }
    if (qualities.size() < 2) continue;
    const double best = *qualities.rbegin(), second = *std::next(qualities.rbegin());
    for (size_t r = 0; r < table.rows.size(); ++r) {
      const ReportCell* cell = cell_of(r);
      if (cell == nullptr || cell->n == 0) continue;
      const double quality = *cell->display.higher_is_better ? cell->mean : -cell->mean;
      table.emphasis[r][c] = quality == best     ? Emphasis::kBest
                             : quality == second ? Emphasis::kSecond
                                                 : Emphasis::kNone;
    }
  }
}

// One table a task and openness: rows are methods with their axis values, columns metrics. Where there are several sets
// of unknown samples a second one, with a row for each of them.
std::vector<TitledTable> Tables(const Report& report) {
  using Level = std::pair<std::string, int>;  // task, unknown classes
  std::set<Level> levels, levels_with_sets;
  for (const ReportCell& cell : report.cells) {
    levels.insert({cell.task, cell.unknown_classes});
    if (cell.group != kPool) levels_with_sets.insert({cell.task, cell.unknown_classes});
  }
  std::vector<TitledTable> tables;
  std::map<std::pair<Level, bool>, size_t> index;
  for (const ReportCell& cell : report.cells) {
    const Level level = {cell.task, cell.unknown_classes};
    const bool of_set = cell.group != kPool;
    if (index.try_emplace({level, of_set}, tables.size()).second) {
      const auto same_task = [&](const Level& other) { return other.first == cell.task; };
      std::string title = cell.task;
      if (std::count_if(levels.begin(), levels.end(), same_task) > 1) {
        absl::StrAppendFormat(&title, ", %d unknown classes, openness %.3f", cell.unknown_classes, cell.openness);
      }
      if (of_set) {
        absl::StrAppend(&title, ": each set of unknown samples against all known ones");
        tables.push_back({title, Table{{"method", "unknown"}, {}, 2}, {}});
      } else {
        if (levels_with_sets.count(level) > 0) absl::StrAppend(&title, ": all unknown samples");
        tables.push_back({title, Table{{"method"}, {}, 1}, {}});
      }
    }
    std::vector<std::string> row = {cell.axis.empty() ? cell.method
                                                      : absl::StrCat(cell.method, ", ", AxisText(cell.axis))};
    if (of_set) row.push_back(cell.group);
    Put(cell, row, &tables[index[{level, of_set}]]);
  }
  for (TitledTable& titled : tables) {
    for (std::vector<std::string>& row : titled.table.rows) row.resize(titled.table.header.size());
    Emphasise(&titled);
  }
  return tables;
}

std::string Footer(const Report& report) {
  std::string text = "Mean ± population standard deviation over splits and seeds";
  const int most = report.cells.empty() ? 0 : report.cells[0].n + report.cells[0].missing;
  if (most > 0) absl::StrAppend(&text, " (n=", most, ")");
  absl::StrAppend(&text, ".");
  if (report.missing > 0) {
    absl::StrAppend(&text, "\n", report.missing, " of ", report.trials, " trials have no record yet.");
  }
  if (report.waiting > 0) absl::StrAppend(&text, "\nTuned trials that wait for their search: ", report.waiting, ".");
  return text;
}

std::string FormatText(const Report& report) {
  std::string text;
  for (const TitledTable& titled : Tables(report)) {
    absl::StrAppend(&text, titled.title, "\n\n", ToText(titled.table), "\n");
  }
  for (const std::string& line : report.task_lines) absl::StrAppend(&text, line, "\n");
  for (const std::string& line : report.search_lines) absl::StrAppend(&text, line, "\n");
  for (const std::string& line : report.note_lines) absl::StrAppend(&text, line, "\n");
  return absl::StrCat(text, Footer(report), "\n");
}

std::string FormatMarkdown(const Report& report) {
  std::string text = absl::StrCat("# ", report.experiment, "\n\n");
  for (const TitledTable& titled : Tables(report)) {
    absl::StrAppend(&text, "## ", titled.title, "\n\n", ToMarkdown(titled.table), "\n");
  }
  for (const std::string& line : report.task_lines) absl::StrAppend(&text, line, "\n\n");
  for (const std::string& line : report.search_lines) absl::StrAppend(&text, line, "\n\n");
  for (const std::string& line : report.note_lines) absl::StrAppend(&text, line, "\n\n");
  return absl::StrCat(text, Footer(report), "\n");
}

std::string FormatLatex(const Report& report) {
  std::string text = "% needs \\usepackage{booktabs}\n";
  for (const TitledTable& titled : Tables(report)) {
    absl::StrAppend(&text, "\\begin{table}\n  \\centering\n  \\caption{", EscapeLatex(titled.title),
                    ". Mean $\\pm$ population standard deviation over splits and seeds.}\n", ToLatex(titled.table),
                    "\\end{table}\n");
  }
  return text;
}

std::string FormatCsv(const Report& report) {
  Table table;
  table.header = {"method", "axis", "task",    "unknown_classes", "openness", "group",  "metric", "mean",
                  "std",    "n",    "missing", "values",          "unit",     "better", "label"};
  for (const ReportCell& cell : report.cells) {
    const bool known = cell.n > 0;
    table.rows.push_back(
        {cell.method, AxisText(cell.axis), cell.task, absl::StrCat(cell.unknown_classes), FullPrecision(cell.openness),
         cell.group, cell.metric, known ? FullPrecision(cell.mean) : "", known ? FullPrecision(cell.std) : "",
         absl::StrCat(cell.n), absl::StrCat(cell.missing),
         absl::StrJoin(cell.values, " ", [](std::string* out, double v) { out->append(FullPrecision(v)); }),
         cell.display.value_unit, BetterText(cell.display), cell.display.label});
  }
  return ToCsv(table);
}

nlohmann::ordered_json AxisJson(const std::vector<AxisValue>& values) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const AxisValue& axis : values) json[axis.name()] = axis.value();
  return json;
}

// A learning curve: what training saw in each epoch, and what was measured after it.
nlohmann::ordered_json CurveJson(const std::vector<EpochSummary>& epochs) {
  nlohmann::ordered_json curve = nlohmann::ordered_json::array();
  for (const EpochSummary& epoch : epochs) {
    nlohmann::ordered_json point;
    point["epoch"] = epoch.epoch();
    point["learning_rate"] = epoch.learning_rate();
    point["loss"] = epoch.loss();
    point["terms"] = std::vector<double>(epoch.term().begin(), epoch.term().end());
    point["train_accuracy"] = epoch.train_accuracy();
    for (const MetricRecord& metric : epoch.metric()) {
      const nlohmann::ordered_json value = metric.has_value() ? nlohmann::ordered_json(metric.value()) : nullptr;
      point["metrics"].push_back({{"metric", metric.name()}, {"group", GroupText(metric.group())}, {"value", value}});
    }
    curve.push_back(point);
  }
  return curve;
}

nlohmann::ordered_json ResultsJson(const Report& report) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const ReportTrial& trial : report.results) {
    nlohmann::ordered_json entry;
    entry["id"] = trial.id;
    entry["method"] = trial.method;
    entry["task"] = trial.task;
    entry["axis"] = AxisJson(trial.axis);
    entry["split"] = trial.split;
    entry["seed"] = trial.seed;
    entry["checkpoint"] = trial.checkpoint_key;
    entry["outputs"] = trial.outputs_key;
    entry["curve"] = CurveJson(trial.epochs);
    results.push_back(entry);
  }
  return results;
}

std::string FormatJson(const Report& report) {
  nlohmann::ordered_json json = ReportJson(report);
  json["results"] = ResultsJson(report);
  return json.dump(2) + "\n";
}

}  // namespace

nlohmann::ordered_json ReportJson(const Report& report) {
  nlohmann::ordered_json json;
  json["experiment"] = report.experiment;
  json["trials"] = report.trials;
  json["missing"] = report.missing;
  json["std"] = "population";
  if (!report.search_lines.empty()) json["searches"] = report.search_lines;
  if (!report.note_lines.empty()) json["notes"] = report.note_lines;
  json["cells"] = nlohmann::ordered_json::array();
  for (const ReportCell& cell : report.cells) {
    nlohmann::ordered_json entry;
    entry["method"] = cell.method;
    entry["task"] = cell.task;
    entry["axis"] = AxisJson(cell.axis);
    entry["unknown_classes"] = cell.unknown_classes;
    entry["openness"] = cell.openness;
    entry["group"] = cell.group;
    entry["metric"] = cell.metric;
    entry["label"] = cell.display.label;
    entry["unit"] = cell.display.value_unit;
    entry["display"] = {{"factor", cell.display.factor}, {"digits", cell.display.digits}, {"unit", cell.display.unit}};
    const std::optional<bool>& higher = cell.display.higher_is_better;
    entry["higher_is_better"] = higher.has_value() ? nlohmann::ordered_json(*higher) : nlohmann::ordered_json();
    entry["mean"] = cell.n > 0 ? nlohmann::ordered_json(cell.mean) : nlohmann::ordered_json();
    entry["std"] = cell.n > 0 ? nlohmann::ordered_json(cell.std) : nlohmann::ordered_json();
    entry["n"] = cell.n;
    entry["values"] = cell.values;
    entry["splits"] = cell.splits;
    entry["seeds"] = cell.seeds;
    if (std::any_of(cell.intervals.begin(), cell.intervals.end(), [](const auto& i) { return i.has_value(); })) {
      for (const auto& interval : cell.intervals) {
        entry["low"].push_back(interval.has_value() ? nlohmann::ordered_json(interval->first) : nullptr);
        entry["high"].push_back(interval.has_value() ? nlohmann::ordered_json(interval->second) : nullptr);
      }
    }
    entry["missing"] = cell.missing;
    if (!cell.absent_reasons.empty()) entry["absent"] = cell.absent_reasons;
    json["cells"].push_back(entry);
  }
  return json;
}

absl::StatusOr<ReportFormat> ParseReportFormat(const std::string& name) {
  if (name == "text") return ReportFormat::kText;
  if (name == "markdown") return ReportFormat::kMarkdown;
  if (name == "latex") return ReportFormat::kLatex;
  if (name == "csv") return ReportFormat::kCsv;
  if (name == "json") return ReportFormat::kJson;
  return absl::InvalidArgumentError(UnknownName("format", name, {"text", "markdown", "latex", "csv", "json"}));
}

std::string FormatReport(const Report& report, ReportFormat format) {
  switch (format) {
    case ReportFormat::kText:
      return FormatText(report);
    case ReportFormat::kMarkdown:
      return FormatMarkdown(report);
    case ReportFormat::kLatex:
      return FormatLatex(report);
    case ReportFormat::kCsv:
      return FormatCsv(report);
    case ReportFormat::kJson:
      return FormatJson(report);
  }
  return "";
}

}  // namespace openset
