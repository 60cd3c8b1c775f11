// Records of simulated outputs, for tests and benchmarks of reports.
#ifndef OPENSET_TOOLS_TESTING_REPORT_PAGE_MADE_UP_RESULTS_H_
#define OPENSET_TOOLS_TESTING_REPORT_PAGE_MADE_UP_RESULTS_H_

#include <deque>
#include <vector>

#include "experiments/report/report.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/record.pb.h"

namespace openset {

struct MadeUpOptions {
  int tasks = 2;
  int methods = 5;  // one of them swept over three values of lambda
  int splits = 3;
  int seeds = 2;
  int samples = 300;  // of each test
  int epochs = 20;
};

// Owns everything that `results` points to.
struct MadeUpResults {
  std::deque<TrialSpec> trials;
  std::deque<TrialRecord> records;
  std::vector<TrialResult> results;
};

// Each record is measured (experiments/evaluate/evaluation.h) on its own random logits, for 6 known classes and two
// sets of unknown samples, near and far. Later methods separate known from unknown samples better.
MadeUpResults MakeUpResults(const MadeUpOptions& options);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_REPORT_PAGE_MADE_UP_RESULTS_H_
