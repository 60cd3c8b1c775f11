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
#include "tools/cli/flags/run_config.h"

namespace openset {

// Says how to ask for a figure.
inline constexpr char kStudyFigureForms[] =
    "request a study's figure with --x=FIELD and --y=METRIC, --curve=QUANTITY, --improvement=METRIC, or "
    "--softmax=SET,SET";

struct StudyFigure {
  std::string name;  // follows the study's name in the file's name
  VegaLite chart;
};

// Draws what --x and --y, --curve, --improvement or --softmax request, with the other flags of `openset figure`.
// --softmax reads the stored outputs of each method's first trial that has a record. Errors: kInvalidArgument if none
// or several of them are given, and for an unknown name, with the known ones; kNotFound if there are no results to
// draw, or, for --softmax, outputs are gone; kDataLoss if they are corrupt; kUnavailable or another read failure
// (IsReadFailure() in experiments/store/store.h) if results can't be read now. Precondition: ParseSpread(config.spread)
// is OK.
absl::StatusOr<StudyFigure> DrawStudyFigure(const Study& study, const RunConfig& config);

// The same for records without a study, for example from a bundle. Errors: also kInvalidArgument for softmax, which
// needs outputs, and for an improvement without a baseline.
absl::StatusOr<StudyFigure> DrawRecordsFigure(const std::string& name, std::vector<TrialRecord> records,
                                              const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_STUDY_FIGURE_H_
