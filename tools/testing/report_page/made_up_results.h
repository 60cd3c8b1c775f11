// Records of made-up outputs, for tests and benchmarks of reports.
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

// Owns what `results` points at.
struct MadeUpResults {
  std::deque<TrialSpec> trials;
  std::deque<TrialRecord> records;
  std::vector<TrialResult> results;
};

// Every record is measured (experiments/evaluate/evaluation.h) on logits that are drawn anew: 6 known classes, two sets
// of unknown samples, near and far; later methods tell known from unknown better.
MadeUpResults MakeUpResults(const MadeUpOptions& options);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_REPORT_PAGE_MADE_UP_RESULTS_H_
