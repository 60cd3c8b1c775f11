// Records -> the numbers of tables. A pure function of trials and records.
#ifndef OPENSET_EXPERIMENTS_REPORT_REPORT_H_
#define OPENSET_EXPERIMENTS_REPORT_REPORT_H_

#include <cstdint>
#include <map>
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

// A number that was published of what a cell measures.
struct PublishedNumber {
  std::string source;  // "Wang et al. 2022 (OpenAUC), Table 2"
  std::string place;   // its row and column there: "Ours, CIFAR10"
  double value = 0;    // in the metric's own unit, as the cell's mean
  std::optional<double> std;
  std::string form;                  // of the method that was run there; may be empty
  std::vector<int> splits;           // that it is the mean of, where it was made of numbers of single splits
  std::vector<std::string> reasons;  // what the difference may be due to
  std::vector<std::string> doubts;   // why the number itself may be wrong
};

// A test of the difference between a cell's method and the study's baseline.
struct Significance {
  double p_value = 1;  // Holm's, over all such tests of the metric and group
  bool detectable = false;
  int replicates = 0;  // what it is over: splits, or the seeds of one split
  bool of_seeds = false;
};

// A metric of a method on a task, over splits and seeds.
struct ReportCell {
  std::string method;
  std::string task;
  std::vector<AxisValue> axis;  // values of the swept fields
  int known_classes = 0;
  int unknown_classes = 0;
  double openness = 0;
  std::string group;   // which unknown samples: "pool", or GroupText (experiments/store/records/metric_groups.h) where
                       // there are sets
  std::string metric;  // its name
  Display display;
  std::optional<std::string> shared_label;  // of all methods, where these have thresholds of their own
  double mean = 0;                          // of values; undefined if n is 0
  double std = 0;                           // population standard deviation (divided by n), as in published tables
  int n = 0;
  std::vector<double> values;  // in the order of the trials
  std::vector<int> splits;     // of each value
  std::vector<uint64_t> seeds;
  std::vector<std::optional<std::pair<double, double>>> intervals;  // of each value, where one was asked for
  int missing = 0;                                                  // trials without a record
  std::vector<std::string> absent_reasons;                          // of records in which the metric is undefined
  std::vector<PublishedNumber> published;                           // experiments/report/published_numbers.h
  std::optional<Significance> significance;                         // experiments/report/statistics/significance.h
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

// What stands behind the mean of a cell: experiments/report/statistics/spread.h.
enum class Spread { kPopulation, kSample, kInterval };

struct Report {
  std::string experiment;
  std::vector<std::string> overrides;  // what the command line laid over the spec (TrialSpec.laid_over), a flag each
  std::map<std::string, std::string> titles;  // of methods that have one (MethodSpec.title), by their names
  std::vector<std::string> data_lines;        // of data that are not here, and by what results are found: a line each
  std::vector<ReportCell>
      cells;  // by method, axis values, task, openness, group, then metric, each in the order of the trials
  // One line a task: classes, openness, known:unknown test samples, and those of each set where there are several.
  std::vector<std::string> task_lines;
  // One line a tuned trial: what was chosen.
  std::vector<std::string> search_lines;
  // What else is to be known: a line each.
  std::vector<std::string> note_lines;
  std::vector<ReportTrial> results;  // in the order of the trials
  // Fields whose values are the rows and the columns of tables (experiments/report/report_tables.h).
  std::vector<std::string> rows, columns;
  Spread spread = Spread::kPopulation;
  std::string sort_by;   // the metric whose best rows come first; "": in the order of the study
  std::string baseline;  // the row that `significance` is of; "" where there are no tests
  // What the published numbers' doubts and conventions are: a line each.
  std::vector<std::string> published_lines;
  int trials = 0;
  int missing = 0;  // trials without a record
  // Of these, trials whose outputs are there: what is missing is an evaluation by exactly these metrics.
  int unevaluated = 0;
  int failed = 0;                         // of these, trials of which an action failed at the last attempt
  std::vector<std::string> failed_lines;  // which: "vim, splits 0 and 1, seed 1"
  int waiting = 0;                        // tuned trials that wait for their search; they are not among `trials`
};

// The row of a cell in tables, and the line of a trial in plots: "openauc, lambda 0.1".
std::string RowName(const std::string& method, const std::vector<AxisValue>& axis);
std::string RowName(const ReportCell& cell);
std::string RowName(const TrialSpec& trial);

// Whether a value is missing: a trial has no record, or the metric is undefined in it. Such a cell is not compared with
// others, whose means are of other runs.
bool IsIncomplete(const ReportCell& cell);

// Mean, standard deviation and n of its values.
void Summarise(ReportCell* cell);

// "lambda 0.1, alpha 2".
std::string AxisText(const std::vector<AxisValue>& axis);

Report MakeReport(const std::string& experiment, absl::Span<const TrialResult> results);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_REPORT_H_
