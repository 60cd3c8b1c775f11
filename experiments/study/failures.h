// What of a study failed.
#ifndef OPENSET_EXPERIMENTS_STUDY_FAILURES_H_
#define OPENSET_EXPERIMENTS_STUDY_FAILURES_H_

#include <string>
#include <vector>

#include "experiments/study/study.h"

namespace openset {

struct StudyFailure {
  std::string what;  // "train openauc on fashion_mnist, split 1, seed 0 (3 times): out of memory"
  std::string log_tail;
};

// The last failed attempt at each action that is not done, in the order of the plan, without those at work now.
std::vector<StudyFailure> FailuresOf(const Study& study);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_FAILURES_H_
