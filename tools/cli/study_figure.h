// Figures of a study's results.
#ifndef OPENSET_TOOLS_CLI_STUDY_FIGURE_H_
#define OPENSET_TOOLS_CLI_STUDY_FIGURE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/chart/vega_lite.h"
#include "experiments/report/report.h"
#include "experiments/store/record.proto.h"
#include "experiments/study/study.h"

namespace openset {

// Says how to ask for a figure.
inline constexpr char kStudyFigureForms[] =
    "request a study's figure with --x=FIELD and --y=METRIC, --curve=QUANTITY, --improvement=METRIC, or "
    "--softmax=SET,SET";

// A request for one figure: x and y, or one of the other kinds.
struct StudyFigureRequest {
  std::string x, y;         // a metric over a swept field or openness (experiments/report/charts/charts.h)
  std::string curve;        // "loss", "roc", "density_METHOD" (experiments/report/charts/charts.h, detail_charts.h)
  std::string improvement;  // a metric (experiments/report/charts/charts.h)
  // Sets of unknown samples, rows of heat maps with a column for each method (experiments/report/charts/softmax_map.h);
  // read from the stored outputs of each method's first trial that has a record.
  std::vector<std::string> softmax;
  int classes = 20;                     // of a heat map's sides, at most
  bool narrow = true;                   // for a column of a paper
  std::string x_scale = "auto";         // of x and y: "linear", "log", or chosen from the values
  Spread spread = Spread::kPopulation;  // of the bands
  // The method that improvements compare with, instead of the study's (ReportSpec.baseline).
  std::string baseline;
  bool titles = true;  // shows methods' titles instead of their names
  // Instead of the figure's own title and the lines below it: a text, or "none". Empty: its own.
  std::string title;
  std::string legend = "top";  // of lines: "top", "right", "bottom" or "none"
};

struct StudyFigure {
  std::string name;  // follows the study's name in the file's name
  VegaLite chart;
};

// Errors: kInvalidArgument for a request of no kind or of two, and for an unknown name, with the known ones; kNotFound
// if there are no results to draw; those of reading outputs.
absl::StatusOr<StudyFigure> DrawStudyFigure(const Study& study, const StudyFigureRequest& request);

// The same for records without a study, such as those of a bundle. Errors: also kInvalidArgument for softmax, which
// needs outputs, and for an improvement without a baseline.
absl::StatusOr<StudyFigure> DrawRecordsFigure(const std::string& name, std::vector<TrialRecord> records,
                                              const StudyFigureRequest& request);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_STUDY_FIGURE_H_
