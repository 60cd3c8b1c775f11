// Training curves and metrics as TensorBoard's event files.
#ifndef OPENSET_EXPERIMENTS_REPORT_TENSORBOARD_H_
#define OPENSET_EXPERIMENTS_REPORT_TENSORBOARD_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "experiments/report/report.h"

namespace openset {

// A file for each trial that has a record: its path below the folder that TensorBoard is given, whose folders are the
// runs there ("TASK/METHOD, lambda 0.1/split 0, seed 1/events.out.tfevents.0.TRIAL"), and its content.
//
// Step e is epoch e, from 0: training/objective, training/accuracy, training/learning_rate, and METRIC of what was
// measured after it (GROUP/METRIC for unknown samples of a set). The record's own metrics are at the step behind the
// last epoch, as test/METRIC. Values are those of the records, unscaled, in single precision, as TensorBoard has them.
// Times are those of the records: when the training began, and its epochs in equal parts of what it took.
std::vector<std::pair<std::string, std::string>> TensorBoardFiles(absl::Span<const TrialResult> results);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_TENSORBOARD_H_
