// One table of all records with a row for each trial and metric, for other programs ("tidy data").
#ifndef OPENSET_EXPERIMENTS_REPORT_TIDY_H_
#define OPENSET_EXPERIMENTS_REPORT_TIDY_H_

#include "absl/types/span.h"
#include "core/text/table.h"
#include "experiments/report/report.h"

namespace openset {

// Columns: trial (its id), method, task, split, seed, known_classes, unknown_classes, openness, one for each swept
// field (empty for trials without it), group ("pool", or the set of unknown samples), known_samples,
// unknown_samples of that group, known_per_unknown (their ratio; empty if the record does not count them, as for
// means over groups), metric, value (full precision; empty if undefined), unit, better ("higher", "lower" or
// empty), low, high (of the interval, if there is one), outputs, checkpoint (keys below the store's outputs/ and
// checkpoints/). Rows in the order of the trials; trials without a record have none. pandas.read_csv
// and `openset compare` read ToCsv() of this table.
Table TidyTable(absl::Span<const TrialResult> results);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_TIDY_H_
