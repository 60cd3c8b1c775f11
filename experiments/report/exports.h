// All records for other programs: as one tidy table, and for TensorBoard.
#ifndef OPENSET_EXPERIMENTS_REPORT_EXPORTS_H_
#define OPENSET_EXPERIMENTS_REPORT_EXPORTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/text/table.h"
#include "experiments/report/report.h"

namespace openset {

// ---- One table of all records with a row for each trial and metric, for other programs ("tidy data").

// Columns: trial (its id), method, task, split, seed, known_classes, unknown_classes, openness, one for each swept
// field (empty for trials without it), group ("pool", or the set of unknown samples), known_samples,
// unknown_samples of that group, known_per_unknown (their ratio; empty if the record does not count them, as for
// means over groups), metric, value (full precision; empty if undefined), unit, better ("higher", "lower" or
// empty), low, high (of the interval, if there is one), outputs, checkpoint (keys below the store's outputs/ and
// checkpoints/). Rows in the order of the trials; trials without a record have none. pandas.read_csv
// and `openset compare` read ToCsv() of this table.
Table TidyTable(absl::Span<const TrialResult> results);

// ---- Writes learning curves and metrics as TensorBoard event files.

// The path and content of a file for each trial with a record. Paths are below the folder for `tensorboard --logdir`;
// each folder is a run ("TASK/METHOD, lambda 0.1/split 0, seed 1/events.out.tfevents.0.TRIAL").
//
// Step e is epoch e, counted from 0. It has training/objective, training/accuracy, training/learning_rate, and METRIC
// for each metric that was measured after the epoch (GROUP/METRIC for one set of unknown samples). The record's final
// metrics follow at the next step, as test/METRIC. Values are unscaled, and in single precision, because TensorBoard
// supports nothing better. Times start when the training began; all epochs get the same share of its duration.
std::vector<std::pair<std::string, std::string>> TensorBoardFiles(absl::Span<const TrialResult> results);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_EXPORTS_H_
