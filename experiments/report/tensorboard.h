// Writes learning curves and metrics as TensorBoard event files.
#ifndef OPENSET_EXPERIMENTS_REPORT_TENSORBOARD_H_
#define OPENSET_EXPERIMENTS_REPORT_TENSORBOARD_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "experiments/report/report.h"

namespace openset {

// The path and content of a file for each trial with a record. Paths are below the folder for `tensorboard --logdir`;
// each folder is a run ("TASK/METHOD, lambda 0.1/split 0, seed 1/events.out.tfevents.0.TRIAL").
//
// Step e is epoch e, counted from 0. It has training/objective, training/accuracy, training/learning_rate, and METRIC
// for each metric that was measured after the epoch (GROUP/METRIC for one set of unknown samples). The record's final
// metrics follow at the next step, as test/METRIC. Values are unscaled, and in single precision, because TensorBoard
// supports nothing better. Times start when the training began; all epochs get the same share of its duration.
std::vector<std::pair<std::string, std::string>> TensorBoardFiles(absl::Span<const TrialResult> results);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_TENSORBOARD_H_
