#include "tools/cli/study_figure.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/chart/bar_chart.h"
#include "core/chart/heat_map.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "experiments/report/charts/charts.h"
#include "experiments/report/charts/detail_charts.h"
#include "experiments/report/charts/improvement.h"
#include "experiments/report/charts/softmax_map.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/outputs.h"
#include "experiments/store/record.proto.h"

namespace openset {
namespace {

// Of the area between the axes, in pixels; the picture is scaled to its width.
constexpr int kColumnWidth = 240, kColumnHeight = 160;

void AddName(const std::string& name, std::vector<std::string>* names) {
  if (!absl::c_linear_search(*names, name)) names->push_back(name);
}

// Why there is nothing with this name.
absl::Status NothingToDraw(const Study& study, const Report& report, const std::string& wanted,
                           const std::vector<std::string>& known, const std::string& why_none) {
  if (!known.empty()) return absl::InvalidArgumentError(UnknownName("figure", wanted, known));
  return absl::NotFoundError(absl::StrCat(study.name(), ": there is nothing to draw: ", report.trials - report.missing,
                                          " of ", report.trials, " trials have a record, and ", why_none));
}

// A logarithmic axis has no place for 0.
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

absl::StatusOr<StudyFigure> DrawCharts(const Study& study, const StudyResults& results, const Report& report,
                                       const StudyFigureRequest& request) {
  std::vector<ReportChart> charts;
  if (request.curve.empty()) {
    charts = SensitivityCharts(report);
    for (ReportChart& chart : OpennessCharts(report)) charts.push_back(std::move(chart));
  } else {
    charts = LearningCurves(results.results);
    for (ReportChart& chart : CurveCharts(results.results)) charts.push_back(std::move(chart));
    const std::vector<ExampleTrial> examples = ExampleTrials(results.results, std::numeric_limits<int>::max());
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
    return NothingToDraw(study, report, wanted, known,
                         request.curve.empty() ? "no field is swept over numbers" : "none has a curve");
  }
  return StudyFigure{wanted, rows.size() == 1 ? ToVegaLite(rows[0][0]) : ToVegaLite(rows)};
}

absl::StatusOr<StudyFigure> DrawImprovement(const Study& study, const Report& report,
                                            const StudyFigureRequest& request) {
  std::vector<VegaLite> drawn;
  std::vector<std::string> known;
  for (ImprovementChart& made : ImprovementCharts(report, study.experiment().spec.report().baseline())) {
    AddName(made.metric, &known);
    if (made.metric != request.improvement) continue;
    if (request.narrow) made.chart.width = kColumnWidth;
    drawn.push_back(ToVegaLite(made.chart));
  }
  if (drawn.empty()) {
    return NothingToDraw(study, report, request.improvement, known, "there is no second method to compare");
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

absl::StatusOr<StudyFigure> DrawSoftmax(const Study& study, const StudyResults& results, const Report& report,
                                        const StudyFigureRequest& request) {
  const std::vector<ExampleTrial> examples = ExampleTrials(results.results, std::numeric_limits<int>::max());
  if (examples.empty()) return NothingToDraw(study, report, "", {}, "none has outputs");
  std::vector<std::vector<HeatMap>> maps(request.softmax.size());
  double largest = 0;
  for (const ExampleTrial& example : examples) {
    const std::string& key = example.record->outputs_key();
    const absl::StatusOr<Outputs> outputs = ReadOutputs(JoinPath(study.store().OutputsFolder(key), kOutputsFile));
    OPENSET_RETURN_IF_ERROR(outputs.status(), example.line);
    for (size_t row = 0; row < request.softmax.size(); ++row) {
      OPENSET_ASSIGN_OR_RETURN(HeatMap map, MeanSoftmax(*outputs, example.trial->data(), request.softmax[row],
                                                        study.experiment().catalog, request.classes));
      map.title = absl::StrCat(example.line, ": ", request.softmax[row]);
      for (const double value : map.values) largest = std::max(largest, value);
      maps[row].push_back(std::move(map));
    }
  }
  return StudyFigure{absl::StrCat("softmax_", absl::StrJoin(request.softmax, "_")),
                     ToVegaLite(maps, 0, largest > 0 ? largest : 1, "mean softmax")};
}

}  // namespace

absl::StatusOr<StudyFigure> DrawStudyFigure(const Study& study, const StudyFigureRequest& request) {
  const bool over_field = !request.x.empty() || !request.y.empty();
  const int kinds = static_cast<int>(over_field) + static_cast<int>(!request.curve.empty()) +
                    static_cast<int>(!request.improvement.empty()) + static_cast<int>(!request.softmax.empty());
  if (kinds != 1 || (over_field && (request.x.empty() || request.y.empty()))) {
    return absl::InvalidArgumentError(kStudyFigureForms);
  }
  if (request.classes < 1) {
    return absl::InvalidArgumentError(absl::StrCat("--softmax_classes: must be at least 1 (is ", request.classes, ")"));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<StudyResults> results, study.LoadResults());
  const Report report = study.MakeReport(*results);
  if (!request.improvement.empty()) return DrawImprovement(study, report, request);
  if (!request.softmax.empty()) return DrawSoftmax(study, *results, report, request);
  return DrawCharts(study, *results, report, request);
}

}  // namespace openset
