// Makes the results of a report from records, without their study.
#ifndef OPENSET_EXPERIMENTS_REPORT_RECORD_RESULTS_H_
#define OPENSET_EXPERIMENTS_REPORT_RECORD_RESULTS_H_

#include <deque>
#include <string>
#include <vector>

#include "experiments/report/report.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Owns everything that `results` points to.
struct RecordResults {
  std::vector<TrialResult> results;
  std::vector<std::string> notes;  // a line for each kind of record that was left out
  std::deque<TrialSpec> trials;
  std::deque<TrialRecord> records;
};

// Sorted by task, method, swept values, split and seed. If the records come from several studies, each trial gets an
// axis "study"; if they come from runs with different changes to a study, an axis "changed" (TrialSpec.laid_over,
// except for --seeds and --methods, which only select trials). Leaves out candidates of a search whose tuned trial
// exists, and all but the newest of several records with the same row, task, split and seed.
RecordResults ResultsOf(std::vector<TrialRecord> records);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_RECORD_RESULTS_H_
