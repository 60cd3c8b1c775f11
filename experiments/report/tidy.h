// Records as one table with a row a trial and metric, for other programs ("tidy data").
#ifndef OPENSET_EXPERIMENTS_REPORT_TIDY_H_
#define OPENSET_EXPERIMENTS_REPORT_TIDY_H_

#include "absl/types/span.h"
#include "core/text/table.h"
#include "experiments/report/report.h"

namespace openset {

// Columns: trial (its id), method, task, split, seed, known_classes, unknown_classes, openness, one a swept field by
// its name (empty where a trial does not have it), group ("pool", or the set of unknown samples), known_samples,
// unknown_samples of that group, known_per_unknown (their ratio; empty where the record does not count them, as for
// means over groups), metric, value (full precision; empty where it is undefined), unit, better ("higher", "lower" or
// empty), low, high (of an interval, where one was asked for), outputs, checkpoint (keys below the store's outputs/ and
// checkpoints/). Rows in the order of the trials; trials without a record have none. ToCsv() of it is what
// pandas.read_csv and `openset compare` read as it is.
Table TidyTable(absl::Span<const TrialResult> results);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_TIDY_H_
