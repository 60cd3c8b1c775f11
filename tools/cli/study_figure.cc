#include "tools/cli/study_figure.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "experiments/report/charts/charts.h"
#include "experiments/report/charts/detail_charts.h"
#include "experiments/report/charts/softmax_map.h"
#include "experiments/report/format_report.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/outputs.h"

namespace openset {
namespace {

// The size of the area between the axes, in pixels; the picture is scaled to its width.
constexpr int kColumnWidth = 240, kColumnHeight = 160;

// The data of a figure.
struct Drawn {
  std::string name;
  absl::Span<const TrialResult> results;
  Report report;
  std::string baseline;  // its name in the study
};

void AddName(const std::string& name, std::vector<std::string>* names) {
  if (!absl::c_linear_search(*names, name)) names->push_back(name);
}

// An error that says why nothing has this name.
absl::Status NothingToDraw(const Drawn& of, const std::string& wanted, const std::vector<std::string>& known,
                           const std::string& why_none) {
  if (!known.empty()) return absl::InvalidArgumentError(UnknownName("figure", wanted, known));
  return absl::NotFoundError(absl::StrCat(of.name, ": there is nothing to draw: ", of.report.trials - of.report.missing,
                                          " of ", of.report.trials, " trials have a record, and ", why_none));
}

// A logarithmic axis can't show 0.
absl::Status CheckAboveZero(const Plot& plot, const std::string& x) {
  for (const PlotSeries& series : plot.series) {
    for (const auto& point : series.points) {
      if (point.first > 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--x_scale: a logarithmic axis needs values above 0, and ", x, " has ", point.first));
    }
  }
  return absl::OkStatus();
}

// For legends. Charts are found by names.
void NameByTitles(const Report& report, std::vector<ReportChart>* charts) {
  for (ReportChart& chart : *charts) {
    for (PlotSeries& series : chart.plot.series) series.name = TitledRow(report, series.name);
  }
}

absl::StatusOr<StudyFigure> DrawCharts(const Drawn& of, const RunConfig& config) {
  std::vector<ReportChart> charts;
  if (config.curve.empty()) {
    charts = SensitivityCharts(of.report);
    for (ReportChart& chart : OpennessCharts(of.report)) charts.push_back(std::move(chart));
    if (config.labels == "titles") NameByTitles(of.report, &charts);
  } else {
    charts = LearningCurves(of.results, of.report.spread);
    for (ReportChart& chart : CurveCharts(of.results, of.report.spread)) charts.push_back(std::move(chart));
    if (config.labels == "titles") NameByTitles(of.report, &charts);
    const std::vector<ExampleTrial> examples = ExampleTrials(of.results, std::numeric_limits<int>::max());
    for (ReportChart& chart : DensityCharts(examples)) charts.push_back(std::move(chart));
    for (ReportChart& chart : CategoryDensityCharts(examples)) charts.push_back(std::move(chart));
  }
  const std::string wanted = config.curve.empty() ? absl::StrCat(config.y, "_by_", config.x) : config.curve;
  std::vector<std::vector<Plot>> rows;
  std::vector<std::string> known;
  for (ReportChart& chart : charts) {
    if (config.width == "column") {
      chart.plot.width = kColumnWidth;
      chart.plot.height = kColumnHeight;
    }
    if (config.curve.empty() && config.x_scale != "auto") {
      chart.plot.x_log = config.x_scale == "log";
      if (chart.of == wanted && chart.plot.x_log) OPENSET_RETURN_IF_ERROR(CheckAboveZero(chart.plot, config.x));
    }
    if (chart.of == wanted) rows.push_back({chart.plot});
    AddName(chart.of, &known);
  }
  if (rows.empty()) {
    return NothingToDraw(of, wanted, known,
                         config.curve.empty() ? "no field is swept over numbers" : "none has a curve");
  }
  return StudyFigure{wanted, rows.size() == 1 ? ToVegaLite(rows[0][0]) : ToVegaLite(rows)};
}

absl::StatusOr<StudyFigure> DrawImprovement(const Drawn& of, const RunConfig& config) {
  std::vector<VegaLite> drawn;
  std::vector<std::string> known;
  const std::string row = BaselineRow(of.report, of.baseline);
  if (row.empty()) {
    std::vector<std::string> rows;
    for (const ReportCell& cell : of.report.cells) AddName(RowName(cell), &rows);
    if (!rows.empty()) return absl::InvalidArgumentError(UnknownName("baseline", of.baseline, rows));
  }
  const std::vector<ImprovementChart> charts = config.labels == "titles"
                                                   ? ImprovementCharts(WithTitles(of.report), TitledRow(of.report, row))
                                                   : ImprovementCharts(of.report, row);
  for (ImprovementChart made : charts) {
    AddName(made.metric, &known);
    if (made.metric != config.improvement) continue;
    if (config.width == "column") made.chart.width = kColumnWidth;
    drawn.push_back(ToVegaLite(made.chart));
  }
  if (drawn.empty()) return NothingToDraw(of, config.improvement, known, "there is no second method to compare");
  VegaLite chart = drawn[0];
  if (drawn.size() > 1) {
    chart = VegaLite::object();
    chart["$schema"] = drawn[0]["$schema"];
    chart["vconcat"] = VegaLite::array();
    for (VegaLite& one : drawn) {
      one.erase("$schema");
      chart["vconcat"].push_back(std::move(one));
    }
  }
  return StudyFigure{absl::StrCat("improvement_", config.improvement), std::move(chart)};
}

absl::StatusOr<StudyFigure> DrawSoftmax(const Study& study, const Drawn& of, const RunConfig& config) {
  const std::vector<ExampleTrial> examples = ExampleTrials(of.results, std::numeric_limits<int>::max());
  if (examples.empty()) return NothingToDraw(of, "", {}, "none has outputs");
  std::vector<std::vector<HeatMap>> maps(config.softmax.size());
  double largest = 0;
  for (const ExampleTrial& example : examples) {
    const std::string& key = example.record->outputs_key();
    OPENSET_RETURN_IF_ERROR(study.store().CheckOutputs(key), example.line);
    const absl::StatusOr<Outputs> outputs = ReadOutputs(JoinPath(study.store().OutputsFolder(key), kOutputsFile));
    OPENSET_RETURN_IF_ERROR(outputs.status(), example.line);
    for (size_t row = 0; row < config.softmax.size(); ++row) {
      OPENSET_ASSIGN_OR_RETURN(HeatMap map, MeanSoftmax(*outputs, example.trial->data(), config.softmax[row],
                                                        study.experiment().catalog, config.softmax_classes));
      const std::string line = config.labels == "titles" ? TitledRow(of.report, example.line) : example.line;
      map.title = absl::StrCat(line, ": ", config.softmax[row]);
      for (const double value : map.values) largest = std::max(largest, value);
      maps[row].push_back(std::move(map));
    }
  }
  return StudyFigure{absl::StrCat("softmax_", absl::StrJoin(config.softmax, "_")),
                     ToVegaLite(maps, 0, largest > 0 ? largest : 1, "mean softmax")};
}

// Puts the title and the legend of the flags into a chart, which may have several plots.
void Dress(const RunConfig& config, VegaLite* chart) {
  if (config.title == "none") chart->erase("title");
  if (config.title != "none" && !config.title.empty()) (*chart)["title"] = config.title;
  // A legend's place, wherever an encoding has a legend.
  const std::function<void(VegaLite*)> place = [&](VegaLite* part) {
    for (auto& [name, value] : part->items()) {
      if (name == "legend" && value.is_object()) {
        if (config.legend == "none") {
          value = nullptr;
        } else {
          value["orient"] = config.legend;
          if (config.legend == "right") value["columns"] = 1;
        }
      } else if (value.is_structured() && name != "data") {
        place(&value);
      }
    }
  };
  if (config.legend != "top") place(chart);
}

absl::Status CheckFigure(const RunConfig& config) {
  const bool over_field = !config.x.empty() || !config.y.empty();
  const int kinds = static_cast<int>(over_field) + static_cast<int>(!config.curve.empty()) +
                    static_cast<int>(!config.improvement.empty()) + static_cast<int>(!config.softmax.empty());
  if (kinds != 1 || (over_field && (config.x.empty() || config.y.empty()))) {
    return absl::InvalidArgumentError(kStudyFigureForms);
  }
  if (config.softmax_classes < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--softmax_classes: must be at least 1 (is ", config.softmax_classes, ")"));
  }
  if (config.spread != "population" && !over_field && config.curve.empty()) {
    return absl::InvalidArgumentError("--spread: applies only to --x with --y, and to --curve");
  }
  const std::vector<std::string> places = {"top", "right", "bottom", "none"};
  if (!absl::c_linear_search(places, config.legend)) {
    return absl::InvalidArgumentError(absl::StrCat("--legend: ", UnknownName("place", config.legend, places)));
  }
  if (!config.baseline.empty() && config.improvement.empty()) {
    return absl::InvalidArgumentError("--baseline: applies only to --improvement");
  }
  return absl::OkStatus();
}

absl::StatusOr<StudyFigure> DrawOfStudy(const Study& study, const RunConfig& config) {
  const std::unique_ptr<StudyResults> results = study.LoadResults();
  OPENSET_RETURN_IF_ERROR(results->unread.ReadFailure());
  Drawn of{study.name(), results->results, study.MakeReport(*results), study.experiment().spec.report().baseline()};
  of.report.spread = *ParseSpread(config.spread);
  if (!config.baseline.empty()) {
    of.baseline = config.baseline;
    AddSignificance(of.baseline, &of.report);
  }
  if (!config.improvement.empty()) return DrawImprovement(of, config);
  if (!config.softmax.empty()) return DrawSoftmax(study, of, config);
  return DrawCharts(of, config);
}

absl::StatusOr<StudyFigure> DrawOfRecords(const std::string& name, std::vector<TrialRecord> records,
                                          const RunConfig& config) {
  if (!config.softmax.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--softmax: needs the networks' outputs for the test images, which records don't have: merge a "
                     "bundle that was "
                     "exported --with=outputs into a store ('openset records merge ",
                     name, " --store=FOLDER'), and name the study"));
  }
  const RecordResults made = ResultsOf(std::move(records));
  Drawn of{name, made.results, MakeReport(name, made.results), config.baseline};
  of.report.spread = *ParseSpread(config.spread);
  if (config.improvement.empty()) return DrawCharts(of, config);
  if (config.baseline.empty()) {
    std::vector<std::string> rows;
    for (const ReportCell& cell : of.report.cells) AddName(RowName(cell), &rows);
    return absl::InvalidArgumentError(
        absl::StrCat("--improvement: records have no baseline: choose one with "
                     "--baseline: ",
                     absl::StrJoin(rows, ", ")));
  }
  AddSignificance(of.baseline, &of.report);
  return DrawImprovement(of, config);
}

}  // namespace

absl::StatusOr<StudyFigure> DrawStudyFigure(const Study& study, const RunConfig& config) {
  OPENSET_RETURN_IF_ERROR(CheckFigure(config));
  OPENSET_ASSIGN_OR_RETURN(StudyFigure figure, DrawOfStudy(study, config));
  Dress(config, &figure.chart);
  return figure;
}

absl::StatusOr<StudyFigure> DrawRecordsFigure(const std::string& name, std::vector<TrialRecord> records,
                                              const RunConfig& config) {
  OPENSET_RETURN_IF_ERROR(CheckFigure(config));
  OPENSET_ASSIGN_OR_RETURN(StudyFigure figure, DrawOfRecords(name, std::move(records), config));
  Dress(config, &figure.chart);
  return figure;
}

}  // namespace openset
