// The records of a study's trials.
#ifndef OPENSET_EXPERIMENTS_STUDY_STUDY_RESULTS_H_
#define OPENSET_EXPERIMENTS_STUDY_STUDY_RESULTS_H_

#include <memory>
#include <string>
#include <vector>

#include "experiments/plan/plan.h"
#include "experiments/report/report.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"
#include "google/protobuf/arena.h"

namespace openset {

// Owns everything that `results` points to.
struct StudyResults {
  // The records lack TrialRecord.trial; TrialResult has the trial.
  std::vector<TrialResult> results;
  std::vector<std::unique_ptr<google::protobuf::Arena>> arenas;
  // A line for each trial with several records in the store whose numbers differ.
  std::vector<std::string> differing;
  // Records that exist but are corrupt or can't be read now, and folders of replicas. They count as missing.
  UnreadRecords unread;
};

// Reads the records of the `reported` trials of the plan. A record that is corrupt or of another schema version counts
// as missing. If a trial has several records (experiments/store/merge.h), the oldest one is used.
std::unique_ptr<StudyResults> LoadStudyResults(const Plan& plan, const std::vector<int>& reported, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_STUDY_RESULTS_H_
