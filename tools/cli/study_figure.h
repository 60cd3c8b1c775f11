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

// How a figure is asked for, in words.
inline constexpr char kStudyFigureForms[] =
    "a study's figure is asked for by --x=FIELD and --y=METRIC, by --curve=QUANTITY, by --improvement=METRIC, or by "
    "--softmax=SET,SET";

// One kind of figure: x and y, or one of the others.
struct StudyFigureRequest {
  std::string x, y;         // a metric over a swept field or openness (experiments/report/charts/charts.h)
  std::string curve;        // "loss", "roc", "density_METHOD" (experiments/report/charts/charts.h, detail_charts.h)
  std::string improvement;  // a metric (experiments/report/charts/improvement.h)
  // Sets of unknown samples, rows of heat maps with a column for each method (experiments/report/charts/softmax_map.h);
  // read from the stored outputs of each method's first trial that has a record.
  std::vector<std::string> softmax;
  int classes = 20;                     // of a heat map's sides, at most
  bool narrow = true;                   // for a column of a paper
  std::string x_scale = "auto";         // of x and y: "linear" or "log" in place of what the values suggest
  Spread spread = Spread::kPopulation;  // of the bands
  // What improvements are over, in the place of the study's (ReportSpec.baseline).
  std::string baseline;
  bool titles = true;  // of methods, in the place of their names
};

struct StudyFigure {
  std::string name;  // of its file, behind the study's
  VegaLite chart;
};

// Errors: kInvalidArgument for a request of no kind or of two, and for a name that nothing has, with the known ones;
// kNotFound where there are no results to draw; those of reading outputs.
absl::StatusOr<StudyFigure> DrawStudyFigure(const Study& study, const StudyFigureRequest& request);

// The same of records alone, as a bundle has them. Errors: also kInvalidArgument for softmax, which needs outputs, and
// for an improvement without a baseline.
absl::StatusOr<StudyFigure> DrawRecordsFigure(const std::string& name, std::vector<TrialRecord> records,
                                              const StudyFigureRequest& request);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_STUDY_FIGURE_H_
