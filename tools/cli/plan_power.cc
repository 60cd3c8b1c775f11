#include "tools/cli/plan_power.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/table.h"
#include "core/text/wrapped_text.h"
#include "data/splits/class_splits.h"
#include "data/task.pb.h"
#include "eval/metrics/display.h"
#include "eval/statistics/power.h"
#include "experiments/report/power_plan.h"
#include "experiments/report/report.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/experiment.proto.h"
#include "nlohmann/json.hpp"
#include "tools/cli/flags/flags.h"
#include "tools/cli/records/bundle_records.h"
#include "tools/evaluation/requested.h"

namespace openset {
namespace {

absl::Status ReadSize(PowerOptions* options, const RunConfig& config) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(config.power, absl::MaxSplits(':', 1));
  options->metric = SuggestedMetric(absl::StripAsciiWhitespace(parts.first));
  if (absl::SimpleAtod(absl::StripAsciiWhitespace(parts.second), &options->size) && options->size > 0 &&
      std::isfinite(options->size)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--power=", config.power, ": write METRIC: DIFFERENCE, such as --power='auroc: 1.0'"));
}

// The most splits of each of the study's tasks, of which none draws them; otherwise 0.
int MostSplits(const Study& study) {
  int most = 0;
  for (const TaskSpec& task : study.experiment().tasks) {
    if (task.has_drawn()) return 0;
    const int splits = static_cast<int>(CountSplits(task));
    most = most == 0 ? splits : std::min(most, splits);
  }
  return most;
}

struct Pilot {
  Report report;
  PowerOptions options;
};

absl::StatusOr<Pilot> ReadPilot(const std::string& argument, const RunConfig& config) {
  Pilot pilot;
  OPENSET_RETURN_IF_ERROR(ReadSize(&pilot.options, config));
  pilot.options.group = config.group;
  pilot.options.baseline = config.baseline;
  if (IsBundle(argument)) {
    ExperimentSpec spec;
    OPENSET_ASSIGN_OR_RETURN(std::vector<TrialRecord> records, RecordsOfBundle(argument, config, &spec));
    const RecordResults made = ResultsOf(std::move(records), spec.method());
    pilot.report = MakeReport(argument, made.results);
    if (pilot.options.baseline.empty() && !BaselineRow(pilot.report, spec.report().baseline()).empty()) {
      pilot.options.baseline = spec.report().baseline();
    }
    pilot.options.cpu_seconds_of_run = CpuSecondsOfRun(made.results);
    return pilot;
  }
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(argument, config));
  const std::unique_ptr<StudyResults> results = study->LoadResults();
  OPENSET_RETURN_IF_ERROR(results->unread.ReadFailure());
  pilot.report = study->MakeReport(*results);
  pilot.options.cpu_seconds_of_run = CpuSecondsOfRun(results->results);
  if (pilot.options.baseline.empty()) pilot.options.baseline = study->experiment().spec.report().baseline();
  pilot.options.most_splits = MostSplits(*study);
  return pilot;
}

std::string OrDash(const std::string& text, bool has) { return has ? text : "-"; }

Table RowTable(const PowerPlan& plan, const LevelTitles& titles, const Report& report) {
  Table table{
      {"method", "difference", "deviation of splits", "of seeds", "shares, %", "detects", "splits for it"}, {}, 1};
  const bool has_levels = titles.size() > 1;
  if (has_levels) table.header.insert(table.header.begin(), "level");
  table.left_columns += has_levels;
  for (const PowerRow& row : plan.rows) {
    const auto shown = [&](double value) { return Shown(value, plan.display); };
    const VarianceComponents& parts = row.components;
    const VarianceShares shares = SharesOf(parts);
    const auto share = [](const std::optional<double>& of) {
      return of.has_value() ? absl::StrFormat("%.0f", *of) : std::string("-");
    };
    std::vector<std::string>& cells = table.rows.emplace_back();
    if (has_levels) {
      for (const ReportCell& cell : report.cells) {
        if (LevelOf(cell) == row.level && cells.empty()) cells.push_back(titles.Of(cell));
      }
    }
    cells.insert(cells.end(),
                 {row.row, shown(row.mean_difference), shown(std::sqrt(parts.split)),
                  OrDash(shown(std::sqrt(parts.seed.value_or(0))), parts.seed.has_value()),
                  absl::StrCat(share(shares.split), ", ", share(shares.seed), ", ", share(shares.images)),
                  OrDash(shown(row.detectable.value_or(0)), row.detectable.has_value()),
                  OrDash(row.splits.value_or(0) > 0 ? absl::StrCat(*row.splits) : "> 10000", row.splits.has_value())});
  }
  return table;
}

Table AllocationTable(const PowerPlan& plan, int most_splits) {
  Table table{{"seeds of each split", "splits", "runs of each method", "CPU hours", "remark"}, {}, 0};
  for (const Allocation& allocation : plan.allocations) {
    const bool is_known = allocation.splits > 0;
    const bool is_possible = is_known && (most_splits == 0 || allocation.splits <= most_splits);
    table.rows.push_back(
        {absl::StrCat(allocation.seeds), is_known ? absl::StrCat(allocation.splits) : "> 10000",
         OrDash(absl::StrCat(allocation.splits * allocation.seeds), is_known),
         OrDash(absl::StrFormat("%.2f", allocation.cpu_seconds / 3600), is_known && allocation.cpu_seconds > 0),
         allocation.is_cheapest            ? "cheapest"
         : !is_possible && most_splits > 0 ? absl::StrCat("the task lists ", most_splits)
                                           : ""});
  }
  return table;
}

// "all", or the names of those rows for which this is true.
std::string RowsWhere(const PowerPlan& plan, const std::function<bool(const PowerRow&)>& is_true) {
  std::set<std::string> names;
  size_t count = 0;
  for (const PowerRow& row : plan.rows) {
    if (!is_true(row)) continue;
    names.insert(row.row);
    ++count;
  }
  return count == plan.rows.size() ? "all" : absl::StrJoin(names, ", ");
}

nlohmann::ordered_json PowerJson(const PowerPlan& plan) {
  const auto number = [](const std::optional<double>& value) {
    return value.has_value() ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json json = {{"metric", plan.metric},   {"group", plan.group}, {"baseline", plan.baseline},
                                 {"difference", plan.size}, {"power", kPower},     {"level", plan.level}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const PowerRow& row : plan.rows) {
    const auto& [task, known, unknown] = row.level;
    json["rows"].push_back({{"row", row.row},
                            {"task", task},
                            {"known_classes", known},
                            {"unknown_classes", unknown},
                            {"runs", row.runs},
                            {"splits", row.components.splits},
                            {"mean_difference", row.mean_difference},
                            {"variance_of_splits", row.components.split},
                            {"variance_of_seeds", number(row.components.seed)},
                            {"variance_of_images", number(row.components.images)},
                            {"variance_of_images_in_splits", number(row.components.images_of_split)},
                            {"detects", number(row.detectable)},
                            {"splits_for_difference", row.splits.value_or(0) > 0 ? nlohmann::ordered_json(*row.splits)
                                                                                 : nlohmann::ordered_json()}});
  }
  json["allocations"] = nlohmann::ordered_json::array();
  for (const Allocation& allocation : plan.allocations) {
    nlohmann::ordered_json entry = {{"seeds", allocation.seeds}, {"splits", nullptr}, {"cpu_hours", nullptr}};
    if (allocation.splits > 0) entry["splits"] = allocation.splits;
    if (allocation.splits > 0 && allocation.cpu_seconds > 0) entry["cpu_hours"] = allocation.cpu_seconds / 3600;
    entry["cheapest"] = allocation.is_cheapest;
    json["allocations"].push_back(std::move(entry));
  }
  json["left_out"] = plan.left_out;
  return json;
}

}  // namespace

absl::Status ShowPower(const std::string& argument, TextFormat format, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Pilot pilot, ReadPilot(argument, config));
  OPENSET_ASSIGN_OR_RETURN(const PowerPlan plan, MakePowerPlan(pilot.report, pilot.options));
  if (format == TextFormat::kJson) {
    std::cout << JsonText(PowerJson(plan), 2) << "\n";
    return absl::OkStatus();
  }
  const Table rows = RowTable(plan, LevelTitles(pilot.report), pilot.report);
  const Table allocations = AllocationTable(plan, pilot.options.most_splits);
  if (format == TextFormat::kCsv) {
    std::cout << ToCsv(allocations);
    return absl::OkStatus();
  }
  const auto in_format = [&](const Table& table) { return FormatTable(table, format); };
  const std::string tests = plan.rows.size() == 1 ? "1 test" : absl::StrCat(plan.rows.size(), " tests");
  const std::string without_seeds =
      RowsWhere(plan, [](const PowerRow& row) { return !row.components.seed.has_value(); });
  const std::string without_images =
      RowsWhere(plan, [](const PowerRow& row) { return !row.components.images.has_value(); });
  const auto [fewest, most] = std::minmax_element(
      plan.rows.begin(), plan.rows.end(),
      [](const PowerRow& a, const PowerRow& b) { return a.components.splits < b.components.splits; });
  std::cout << Wrapped(absl::StrCat(plan.display.label, " of ", plan.group, " against ", plan.baseline, ", in ",
                                    plan.display.unit == "%" ? "points" : "the unit of tables",
                                    "; 'shares': of the variance of a run's difference, "
                                    "those of splits, seeds and noise of the test images; "
                                    "'detects': the difference that these records' test finds in 4 of 5 studies, at "
                                    "the first of Holm's levels over ",
                                    tests, "; 'splits for it': of one seed, to find ", Shown(plan.size, plan.display),
                                    "."))
            << "\n\n"
            << in_format(rows) << "\n"
            << Wrapped(absl::StrCat("To find ", Shown(plan.size, plan.display),
                                    " in 4 of 5 studies, for the row that varies most:"))
            << "\n\n"
            << in_format(allocations) << "\n"
            << Wrapped(absl::StrCat(
                   "The noise of test images is in both deviations, mostly in that of splits, as all seeds of a split "
                   "have the same images. ",
                   without_images == "all" ? "" : "The shares have it apart: more test images would make it smaller. ",
                   without_images.empty()
                       ? ""
                       : absl::StrCat("How much it is isn't known",
                                      without_images == "all" ? "" : absl::StrCat(" of ", without_images),
                                      ": records have the values that it takes for AUROC and OpenAUC, of at least 20 "
                                      "known and 20 unknown samples, since openset 0.4. "),
                   without_seeds.empty()
                       ? ""
                       : absl::StrCat("Each split", without_seeds == "all" ? "" : absl::StrCat(" of ", without_seeds),
                                      " has one seed, so the parts of splits and seeds are not told apart, and the "
                                      "plan is of one seed; with two seeds they are. "),
                   "The estimates are of ", fewest->components.splits,
                   fewest->components.splits == most->components.splits ? ""
                                                                        : absl::StrCat(" to ", most->components.splits),
                   " splits: take more than the table says. 'openset run --until' stops as soon as it knows."))
            << "\n";
  for (const std::string& row : plan.left_out) {
    std::cerr << "hint: left out: " << row << ": it has fewer than two splits in common with " << plan.baseline << "\n";
  }
  return absl::OkStatus();
}

}  // namespace openset
