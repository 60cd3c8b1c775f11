#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/chart/vector_file.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "core/table.h"
#include "experiments/figures/make_figure.h"
#include "experiments/report/charts.h"
#include "experiments/report/detail_charts.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags.h"

ABSL_DECLARE_FLAG(std::string, out);
ABSL_FLAG(std::string, x, "", "Of a study: the swept field on the horizontal axis, or openness.");
ABSL_FLAG(std::string, y, "", "Of a study: the metric on the vertical axis.");
ABSL_FLAG(std::string, curve, "",
          "Of a study: loss, train_accuracy, or a metric measured during training, over epochs; roc, oscr, "
          "risk_coverage, risk_coverage_pool, of all methods in one picture; density_METHOD.");
ABSL_FLAG(std::string, width, "column", "Of a study's figure: column (3.3 inches) or page (6.6 inches).");
ABSL_FLAG(std::string, folder, ".", "Folder for the figure's .svg and .csv.");

namespace openset {
namespace {

// The path of a spec that is given by path, or by the name of one that comes with the program.
absl::StatusOr<std::string> SpecPath(const std::string& spec) {
  if (absl::EndsWith(spec, ".textproto")) return UserPath(spec);
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  const std::string folder = JoinPath(runfiles, "openset/experiments/figures");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> files, ListFolder(folder));
  std::vector<std::string> known;
  for (absl::string_view file : files) {
    if (!absl::ConsumeSuffix(&file, ".textproto")) continue;
    if (file == spec) return JoinPath(folder, absl::StrCat(spec, ".textproto"));
    known.emplace_back(file);
  }
  return absl::NotFoundError(UnknownName("figure", spec, known));
}

// A figure of a study's results, by the name of a chart (experiments/report/charts.h): "auroc_by_lambda", "loss".
absl::Status DrawStudy(const std::string& spec) {
  const std::string x = absl::GetFlag(FLAGS_x), y = absl::GetFlag(FLAGS_y), curve = absl::GetFlag(FLAGS_curve);
  const std::string out = absl::GetFlag(FLAGS_out);
  if (curve.empty() ? x.empty() || y.empty() : !x.empty() || !y.empty()) {
    return absl::InvalidArgumentError(
        "a study's figure is asked for by --x=FIELD and --y=METRIC, or by --curve=QUANTITY");
  }
  const std::string width = absl::GetFlag(FLAGS_width);
  if (width != "column" && width != "page") {
    return absl::InvalidArgumentError(absl::StrCat("--width: ", UnknownName("width", width, {"column", "page"})));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(spec));
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<StudyResults> results, study->LoadResults());
  const Report report = study->MakeReport(*results);
  std::vector<ReportChart> charts;
  if (curve.empty()) {
    charts = SensitivityCharts(report);
    for (ReportChart& chart : OpennessCharts(report)) charts.push_back(std::move(chart));
  } else {
    charts = LearningCurves(results->results);
    for (ReportChart& chart : CurveCharts(results->results)) charts.push_back(std::move(chart));
    const std::vector<ExampleTrial> examples = ExampleTrials(results->results, std::numeric_limits<int>::max());
    for (ReportChart& chart : DensityCharts(examples)) charts.push_back(std::move(chart));
  }
  const std::string wanted = curve.empty() ? absl::StrCat(y, "_by_", x) : curve;
  std::vector<std::vector<Plot>> rows;
  std::vector<std::string> known;
  for (ReportChart& chart : charts) {
    if (width == "column") {
      chart.plot.width = 240;
      chart.plot.height = 160;
    }
    if (chart.of == wanted) rows.push_back({chart.plot});
    if (std::find(known.begin(), known.end(), chart.of) == known.end()) known.push_back(chart.of);
  }
  if (rows.empty()) {
    if (known.empty()) {
      return absl::NotFoundError(absl::StrCat(
          study->name(), ": there is nothing to draw: ", report.trials - report.missing, " of ", report.trials,
          " trials have a record, and ", curve.empty() ? "no field is swept over numbers" : "none has a curve"));
    }
    return absl::InvalidArgumentError(UnknownName("figure", wanted, known));
  }
  const std::string file = UserPath(out.empty() ? absl::StrCat(study->name(), "_", wanted, ".svg") : out);
  OPENSET_RETURN_IF_ERROR(WriteVectorFiles({{file, rows.size() == 1 ? ToVegaLite(rows[0][0]) : ToVegaLite(rows)}}));
  std::cout << file << "\n";
  return absl::OkStatus();
}

absl::Status RunFigure(const std::vector<std::string>& arguments) {
  if (!absl::GetFlag(FLAGS_x).empty() || !absl::GetFlag(FLAGS_y).empty() || !absl::GetFlag(FLAGS_curve).empty()) {
    return DrawStudy(arguments[0]);
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string path, SpecPath(arguments[0]));
  FigureSpec spec;
  OPENSET_RETURN_IF_ERROR(ReadTextProto(path, &spec).status());
  const Figure figure = MakeFigure(spec);
  const std::string folder = UserPath(absl::GetFlag(FLAGS_folder));
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  const std::string file = JoinPath(folder, spec.name());
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(file + ".csv", ToCsv(figure.data)));
  OPENSET_RETURN_IF_ERROR(WriteVectorFiles({{file + ".svg", figure.chart}}));
  std::cout << file << ".svg\n" << file << ".csv\n";
  return absl::OkStatus();
}

}  // namespace

Command FigureCommand() {
  Command command;
  command.name = "figure";
  command.arguments = "SPEC";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Draws a figure of a study's results, or one that needs no training.";
  command.description =
      "With --x and --y, or --curve, SPEC is a study: mean over splits and seeds in a band of one standard deviation "
      "(of a\n"
      "curve: of all trials), as .svg, .pdf or .png (--out). Else it is a FigureSpec in a .textproto, or one of "
      "openauc_figure_1 (metrics over the TPR of the unknown class),\n"
      "imbalance_figure_1 (known and unknown samples over openness), imbalance_figure_2 (base metrics of random\n"
      "predictions). Writes the picture and the numbers in it.\n"
      "\n"
      "  openset figure lambda.textproto --x=lambda --y=auroc --out=lambda.pdf\n"
      "  openset figure quickstart --curve=loss\n"
      "  openset figure quickstart --curve=oscr --out=oscr.pdf\n"
      "  openset figure imbalance_figure_1\n"
      "  openset figure openauc_figure_1 --folder=figures\n";
  command.flags = {"x", "y", "curve", "out", "width", "folder", "deploy", "store", "devices", "data", "library"};
  AddChangeFlags(&command);
  command.run = RunFigure;
  return command;
}

}  // namespace openset
