// The failed actions of a study.
#ifndef OPENSET_EXPERIMENTS_STUDY_FAILURES_H_
#define OPENSET_EXPERIMENTS_STUDY_FAILURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/study/study.h"

namespace openset {

// Why an attempt failed. It decides whether another attempt can succeed.
enum class FailureKind {
  kMachine,  // a worker that died or hung, memory, a disk: IsTransient() (experiments/engine/execute_plan.h), and
             // permissions
  kInput,    // corrupt or missing files
  kMethod,   // a training that diverged, a score that can't be fitted: another attempt fails too
};

struct StudyFailure {
  std::string what;  // "train openauc on fashion_mnist, split 1, seed 0 (3 times): out of memory"
  std::string log_tail;
  FailureKind kind = FailureKind::kMachine;
  std::vector<int> trials = {};  // the trials that need the action
  bool is_unknown = false;       // the failed attempts can't be read now; `what` says why
};

// `code`: the absl::StatusCode of a FailureRecord.
FailureKind KindOf(int code);

// One line that says what to do about these failures, by their kinds.
std::string WhatToDo(const std::vector<StudyFailure>& failures);

// For each action that is neither done nor running, its last failed attempt; in the order of the plan. If the store's
// attempts can't be read now, one element says so (is_unknown).
std::vector<StudyFailure> FailuresOf(const Study& study);

// A trial without a record, for FailedLines().
struct FailedTrial {
  std::string row;    // its row in the report, with the task if there are several
  std::string level;  // LevelText() (experiments/spec/trial.h)
  int split = 0;
  uint64_t seed = 0;
};

// A line for each row, openness level and seed, in the order of their first trials: "vim, splits 0 and 1, seed 1, 2
// unknown classes".
std::vector<std::string> FailedLines(const std::vector<FailedTrial>& trials);

// Adds to the report which trials have no record because of these failures.
void AddFailures(const Study& study, const StudyResults& results, const std::vector<StudyFailure>& failures,
                 Report* report);

// "split 0", "splits 0 and 1", "splits 0, 1 and 4".
std::string SplitsText(const std::vector<int>& splits);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_FAILURES_H_
