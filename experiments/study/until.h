// Studies that run until they know (Until in experiments/spec/experiment.proto): which trials each round adds, and what
// the records have decided so far. Everything follows from the spec and the records, so that a stopped run continues,
// and stored records can be replayed.
#ifndef OPENSET_EXPERIMENTS_STUDY_UNTIL_H_
#define OPENSET_EXPERIMENTS_STUDY_UNTIL_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "eval/statistics/sequential.h"
#include "experiments/plan/search.h"
#include "experiments/report/report.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/spec/trial.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Checks the study's `until`, and lets its tasks draw as many splits as it may use. Does nothing without one. Errors,
// kInvalidArgument "FILE:LINE: until...: ...": a metric that the study does not measure; tasks with cross-validation or
// with several drawn levels of openness; fewer than kFewestReplicates splits at first; more splits than a task lists;
// fewer splits or seeds than at first.
absl::Status PrepareUntil(Experiment* experiment);

// The splits of a task in the order in which they are used, and the first and the last look.
struct UntilTask {
  std::vector<int> splits;
  Look first, most;
};

// All trials that the study may need, with their searches, and the looks of each task, by its name.
struct UntilTrials {
  std::vector<Trial> trials;
  std::vector<TrialSearch> searches;
  std::map<std::string, UntilTask> tasks;
};

// Changes nothing in `experiment` except the digests of further splits' files. Errors: kInvalidArgument, with a line
// "FILE:LINE: path: ..." for each problem; for more trials or candidates than allowed, with their number. Precondition:
// PrepareUntil() has succeeded.
absl::StatusOr<UntilTrials> ExpandUntil(const ExpandOptions& options, Experiment* experiment);

// The metric's value in the record of a trial or, with a search, of the trial that it tunes; nothing if there is no
// record, or the search has not chosen yet.
using LoadMetric =
    std::function<absl::StatusOr<std::optional<MetricRecord>>(const Trial& trial, const TrialSearch* search)>;

struct UntilState {
  std::vector<int> trials;          // indices of the trials of all rounds so far, ascending
  std::vector<int> searches;        // the same of the searches
  UntilReport report;               // without what was spent
  std::vector<double> last_levels;  // of each comparison's last possible look
  int most_splits = 0;              // of any task, as the next two
  int first_splits = 0;
  int most_seeds = 0;
};

// Looks at the records in the order of the rounds, for each comparison until it is decided or a record is missing. A
// tuned method is a row of its own, whose comparison alone decides how many searches are made. Errors: kInvalidArgument
// if no row is the baseline, or no other row exists; any error that `load` returns.
absl::StatusOr<UntilState> ReplayUntil(const Experiment& experiment, const UntilTrials& all, const LoadMetric& load);

// "until: 3 of 8 comparisons are finished (1 undecided); next look: 9 splits, 1 seed.".
std::string RoundLine(const UntilState& state);

// Reads the metric of `until` from the store. Corrupt records count as missing. Errors: a read failure (IsReadFailure()
// in experiments/store/store.h); kUnimplemented if a newer openset wrote the record.
LoadMetric MetricInStore(const Until& until, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_UNTIL_H_
