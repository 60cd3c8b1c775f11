// What of a study failed.
#ifndef OPENSET_EXPERIMENTS_STUDY_FAILURES_H_
#define OPENSET_EXPERIMENTS_STUDY_FAILURES_H_

#include <string>
#include <vector>

#include "experiments/study/study.h"

namespace openset {

// What an attempt failed by, which says whether another one may go well.
enum class FailureKind {
  kMachine,  // a worker that died or hung, memory, a disk: MayPass() (experiments/engine/retry.h), and permissions
  kInput,    // files that are damaged or not there
  kMethod,   // a training that diverged, a score that can't be fitted: the same attempt fails again
};

struct StudyFailure {
  std::string what;  // "train openauc on fashion_mnist, split 1, seed 0 (3 times): out of memory"
  std::string log_tail;
  FailureKind kind = FailureKind::kMachine;
  std::vector<int> trials = {};  // that can't be done because of it
};

// By the absl::StatusCode of a FailureRecord.
FailureKind KindOf(int code);

// What whoever runs the study does about the failures of each kind that there are, in one line.
std::string WhatToDo(const std::vector<StudyFailure>& failures);

// The last failed attempt at each action that is not done, in the order of the plan, without those at work now.
std::vector<StudyFailure> FailuresOf(const Study& study);

// Says in a report of the study which trials have no record because of these failures.
void AddFailures(const Study& study, const StudyResults& results, const std::vector<StudyFailure>& failures,
                 Report* report);

// "split 0", "splits 0 and 1", "splits 0, 1 and 4".
std::string SplitsText(const std::vector<int>& splits);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_FAILURES_H_
