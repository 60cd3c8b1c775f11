// Records as the results of a report, without the study that made them.
#ifndef OPENSET_EXPERIMENTS_REPORT_RECORD_RESULTS_H_
#define OPENSET_EXPERIMENTS_REPORT_RECORD_RESULTS_H_

#include <deque>
#include <string>
#include <vector>

#include "experiments/report/report.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Owns what `results` points at.
struct RecordResults {
  std::vector<TrialResult> results;
  std::vector<std::string> notes;  // what was left out: a line each
  std::deque<TrialSpec> trials;
  std::deque<TrialRecord> records;
};

// In the order of task, method, swept values, split and seed. Where the records are of several studies, or of runs that
// changed a study differently (TrialSpec.laid_over but for --seeds and --methods, which only choose trials), that is a
// value of an axis of each trial: "study", "changed". Left out: candidates of a search whose tuned trial is there, and
// those that another record stands for, the newest one of the same row, task, split and seed.
RecordResults ResultsOf(std::vector<TrialRecord> records);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_RECORD_RESULTS_H_
