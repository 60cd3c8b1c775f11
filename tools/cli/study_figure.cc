#include "tools/cli/study_figure.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/chart/vega_lite.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "experiments/report/charts/charts.h"
#include "experiments/report/charts/detail_charts.h"
#include "experiments/report/charts/softmax_map.h"
#include "experiments/report/format_report.h"
#include "experiments/report/report.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/outputs.h"
#include "experiments/store/record.proto.h"

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

absl::StatusOr<StudyFigure> DrawCharts(const Drawn& of, const StudyFigureRequest& request) {
  std::vector<ReportChart> charts;
  if (request.curve.empty()) {
    charts = SensitivityCharts(of.report);
    for (ReportChart& chart : OpennessCharts(of.report)) charts.push_back(std::move(chart));
    if (request.titles) NameByTitles(of.report, &charts);
  } else {
    charts = LearningCurves(of.results, request.spread);
    for (ReportChart& chart : CurveCharts(of.results, request.spread)) charts.push_back(std::move(chart));
    if (request.titles) NameByTitles(of.report, &charts);
    const std::vector<ExampleTrial> examples = ExampleTrials(of.results, std::numeric_limits<int>::max());
    for (ReportChart& chart : DensityCharts(examples)) charts.push_back(std::move(chart));
    for (ReportChart& chart : CategoryDensityCharts(examples)) charts.push_back(std::move(chart));
  }
  const std::string wanted = request.curve.empty() ? absl::StrCat(request.y, "_by_", request.x) : request.curve;
  std::vector<std::vector<Plot>> rows;
  std::vector<std::string> known;
  for (ReportChart& chart : charts) {
    if (request.narrow) {
      chart.plot.width = kColumnWidth;
      chart.plot.height = kColumnHeight;
    }
    if (request.curve.empty() && request.x_scale != "auto") {
      chart.plot.x_log = request.x_scale == "log";
      if (chart.of == wanted && chart.plot.x_log) OPENSET_RETURN_IF_ERROR(CheckAboveZero(chart.plot, request.x));
    }
    if (chart.of == wanted) rows.push_back({chart.plot});
    AddName(chart.of, &known);
  }
  if (rows.empty()) {
    return NothingToDraw(of, wanted, known,
                         request.curve.empty() ? "no field is swept over numbers" : "none has a curve");
  }
  return StudyFigure{wanted, rows.size() == 1 ? ToVegaLite(rows[0][0]) : ToVegaLite(rows)};
}

absl::StatusOr<StudyFigure> DrawImprovement(const Drawn& of, const StudyFigureRequest& request) {
  std::vector<VegaLite> drawn;
  std::vector<std::string> known;
  const std::string row = BaselineRow(of.report, of.baseline);
  if (row.empty()) {
    std::vector<std::string> rows;
    for (const ReportCell& cell : of.report.cells) AddName(RowName(cell), &rows);
    if (!rows.empty()) return absl::InvalidArgumentError(UnknownName("baseline", of.baseline, rows));
  }
  const std::vector<ImprovementChart> charts = request.titles
                                                   ? ImprovementCharts(WithTitles(of.report), TitledRow(of.report, row))
                                                   : ImprovementCharts(of.report, row);
  for (ImprovementChart made : charts) {
    AddName(made.metric, &known);
    if (made.metric != request.improvement) continue;
    if (request.narrow) made.chart.width = kColumnWidth;
    drawn.push_back(ToVegaLite(made.chart));
  }
  if (drawn.empty()) {
    return NothingToDraw(of, request.improvement, known, "there is no second method to compare");
  }
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
  return StudyFigure{absl::StrCat("improvement_", request.improvement), std::move(chart)};
}

absl::StatusOr<StudyFigure> DrawSoftmax(const Study& study, const Drawn& of, const StudyFigureRequest& request) {
  const std::vector<ExampleTrial> examples = ExampleTrials(of.results, std::numeric_limits<int>::max());
  if (examples.empty()) return NothingToDraw(of, "", {}, "none has outputs");
  std::vector<std::vector<HeatMap>> maps(request.softmax.size());
  double largest = 0;
  for (const ExampleTrial& example : examples) {
    const std::string& key = example.record->outputs_key();
    OPENSET_RETURN_IF_ERROR(study.store().CheckOutputs(key), example.line);
    const absl::StatusOr<Outputs> outputs = ReadOutputs(JoinPath(study.store().OutputsFolder(key), kOutputsFile));
    OPENSET_RETURN_IF_ERROR(outputs.status(), example.line);
    for (size_t row = 0; row < request.softmax.size(); ++row) {
      OPENSET_ASSIGN_OR_RETURN(HeatMap map, MeanSoftmax(*outputs, example.trial->data(), request.softmax[row],
                                                        study.experiment().catalog, request.classes));
      const std::string line = request.titles ? TitledRow(of.report, example.line) : example.line;
      map.title = absl::StrCat(line, ": ", request.softmax[row]);
      for (const double value : map.values) largest = std::max(largest, value);
      maps[row].push_back(std::move(map));
    }
  }
  return StudyFigure{absl::StrCat("softmax_", absl::StrJoin(request.softmax, "_")),
                     ToVegaLite(maps, 0, largest > 0 ? largest : 1, "mean softmax")};
}

// Puts the request's title and legend into a chart, which may have several plots.
void Dress(const StudyFigureRequest& request, VegaLite* chart) {
  if (request.title == "none") chart->erase("title");
  if (request.title != "none" && !request.title.empty()) (*chart)["title"] = request.title;
  // A legend's place, wherever an encoding has a legend.
  const std::function<void(VegaLite*)> place = [&](VegaLite* part) {
    for (auto& [name, value] : part->items()) {
      if (name == "legend" && value.is_object()) {
        if (request.legend == "none") {
          value = nullptr;
        } else {
          value["orient"] = request.legend;
          if (request.legend == "right") value["columns"] = 1;
        }
      } else if (value.is_structured() && name != "data") {
        place(&value);
      }
    }
  };
  if (request.legend != "top") place(chart);
}

absl::Status CheckRequest(const StudyFigureRequest& request) {
  const bool over_field = !request.x.empty() || !request.y.empty();
  const int kinds = static_cast<int>(over_field) + static_cast<int>(!request.curve.empty()) +
                    static_cast<int>(!request.improvement.empty()) + static_cast<int>(!request.softmax.empty());
  if (kinds != 1 || (over_field && (request.x.empty() || request.y.empty()))) {
    return absl::InvalidArgumentError(kStudyFigureForms);
  }
  if (request.classes < 1) {
    return absl::InvalidArgumentError(absl::StrCat("--softmax_classes: must be at least 1 (is ", request.classes, ")"));
  }
  if (request.spread != Spread::kPopulation && !over_field && request.curve.empty()) {
    return absl::InvalidArgumentError("--spread: applies only to --x with --y, and to --curve");
  }
  const std::vector<std::string> places = {"top", "right", "bottom", "none"};
  if (!absl::c_linear_search(places, request.legend)) {
    return absl::InvalidArgumentError(absl::StrCat("--legend: ", UnknownName("place", request.legend, places)));
  }
  if (!request.baseline.empty() && request.improvement.empty()) {
    return absl::InvalidArgumentError("--baseline: applies only to --improvement");
  }
  return absl::OkStatus();
}

}  // namespace

namespace {

absl::StatusOr<StudyFigure> DrawOfStudy(const Study& study, const StudyFigureRequest& request) {
  const std::unique_ptr<StudyResults> results = study.LoadResults();
  OPENSET_RETURN_IF_ERROR(results->unread.ReadFailure());
  Drawn of{study.name(), results->results, study.MakeReport(*results), study.experiment().spec.report().baseline()};
  of.report.spread = request.spread;
  if (!request.baseline.empty()) {
    of.baseline = request.baseline;
    AddSignificance(of.baseline, &of.report);
  }
  if (!request.improvement.empty()) return DrawImprovement(of, request);
  if (!request.softmax.empty()) return DrawSoftmax(study, of, request);
  return DrawCharts(of, request);
}

absl::StatusOr<StudyFigure> DrawOfRecords(const std::string& name, std::vector<TrialRecord> records,
                                          const StudyFigureRequest& request) {
  if (!request.softmax.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--softmax: needs the networks' outputs for the test images, which records don't have: merge a "
                     "bundle that was "
                     "exported --with=outputs into a store ('openset records merge ",
                     name, " --store=FOLDER'), and name the study"));
  }
  const RecordResults made = ResultsOf(std::move(records));
  Drawn of{name, made.results, MakeReport(name, made.results), request.baseline};
  of.report.spread = request.spread;
  if (request.improvement.empty()) return DrawCharts(of, request);
  if (request.baseline.empty()) {
    std::vector<std::string> rows;
    for (const ReportCell& cell : of.report.cells) AddName(RowName(cell), &rows);
    return absl::InvalidArgumentError(
        absl::StrCat("--improvement: records have no baseline: choose one with "
                     "--baseline: ",
                     absl::StrJoin(rows, ", ")));
  }
  AddSignificance(of.baseline, &of.report);
  return DrawImprovement(of, request);
}

}  // namespace

absl::StatusOr<StudyFigure> DrawStudyFigure(const Study& study, const StudyFigureRequest& request) {
  OPENSET_RETURN_IF_ERROR(CheckRequest(request));
  OPENSET_ASSIGN_OR_RETURN(StudyFigure figure, DrawOfStudy(study, request));
  Dress(request, &figure.chart);
  return figure;
}

absl::StatusOr<StudyFigure> DrawRecordsFigure(const std::string& name, std::vector<TrialRecord> records,
                                              const StudyFigureRequest& request) {
  OPENSET_RETURN_IF_ERROR(CheckRequest(request));
  OPENSET_ASSIGN_OR_RETURN(StudyFigure figure, DrawOfRecords(name, std::move(records), request));
  Dress(request, &figure.chart);
  return figure;
}

}  // namespace openset
