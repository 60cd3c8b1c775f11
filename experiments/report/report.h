// Records -> the numbers of tables. A pure function of trials and records.
#ifndef OPENSET_EXPERIMENTS_REPORT_REPORT_H_
#define OPENSET_EXPERIMENTS_REPORT_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/display.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"

namespace openset {

// A trial and its record; null where there is none yet.
struct TrialResult {
  const TrialSpec* trial;
  const TrialRecord* record;
};

// A metric of a method on a task, over splits and seeds.
struct ReportCell {
  std::string method;
  std::string task;
  std::vector<AxisValue> axis;  // values of the swept fields
  int unknown_classes = 0;
  double openness = 0;
  std::string
      group;  // which unknown samples: "pool", or GroupText (experiments/store/metric_groups.h) where there are sets
  std::string metric;  // its name
  Display display;
  double mean = 0;  // of values; undefined if n is 0
  double std = 0;   // population standard deviation (divided by n), as in published tables
  int n = 0;
  std::vector<double> values;  // in the order of the trials
  std::vector<int> splits;     // of each value
  std::vector<uint64_t> seeds;
  std::vector<std::optional<std::pair<double, double>>> intervals;  // of each value, where one was asked for
  int missing = 0;                                                  // trials without a record
  std::vector<std::string> absent_reasons;                          // of records in which the metric is undefined
};

// A trial that has a record: what the record is found by, and how its training went.
struct ReportTrial {
  std::string id;
  std::string method;
  std::string task;
  std::vector<AxisValue> axis;
  int split = 0;
  uint64_t seed = 0;
  std::string checkpoint_key;  // of the first member of an ensemble, as the epochs
  std::string outputs_key;
  std::vector<EpochSummary> epochs;
};

struct Report {
  std::string experiment;
  std::vector<ReportCell>
      cells;  // by method, axis values, task, openness, group, then metric, each in the order of the trials
  // One line a task: classes, openness, known:unknown test samples, and those of each set where there are several.
  std::vector<std::string> task_lines;
  // One line a tuned trial: what was chosen.
  std::vector<std::string> search_lines;
  // What else is to be known: a line each.
  std::vector<std::string> note_lines;
  std::vector<ReportTrial> results;  // in the order of the trials
  int trials = 0;
  int missing = 0;  // trials without a record
  int waiting = 0;  // tuned trials that wait for their search; they are not among `trials`
};

// "lambda 0.1, alpha 2".
std::string AxisText(const std::vector<AxisValue>& axis);

Report MakeReport(const std::string& experiment, absl::Span<const TrialResult> results);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_REPORT_H_
