// Compares methods over runs and tasks.
#ifndef OPENSET_EVAL_REPORT_RUN_COMPARISON_H_
#define OPENSET_EVAL_REPORT_RUN_COMPARISON_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/metrics/display.h"
#include "eval/report/run_table.h"
#include "eval/statistics/bootstrap.h"
#include "eval/statistics/paired_tests.h"

namespace openset {

// Two methods on one task by one metric, paired by run.
struct ComparedRuns {
  std::string metric;  // by the table's name
  std::string task;
  std::string a, b;
  Display display;
  PairedTest test;
  // Holm's adjusted p-value, over all tests of the metric: the pairs and tasks with `is_tested`. Otherwise absent.
  std::optional<double> adjusted_p_value;
  // The interval at Holm's level of the row (HolmLevels). With three or more replicates, it excludes 0 exactly if the
  // verdict is a difference. Absent without a test.
  std::optional<AdjustedInterval> adjusted;
  double adjusted_wilcoxon = 1;
  // The power of the row's test, given how the differences vary: the smallest difference that it detects
  // (DetectableDifferences() in eval/statistics/power.h, over all tests of the metric), and the replicates that it
  // takes to detect, at the same level, a difference of 1 as tables show it (1 point of percent; 0 if more than
  // 10,000). Absent without a test, and if the differences don't vary.
  struct Power {
    double detectable = 0;
    int replicates_for_one = 0;
    double detectable_alone = 0;  // at the level of a single test
  };
  std::optional<Power> power;
  int unpaired = 0;  // runs that only one of the two has
  // "A is better", "no detectable difference", "equal in every run" or, without a test, "not tested: fewer than 3
  // splits (2)" or "not tested: same difference in 5 splits" ("seeds" with one split).
  std::string verdict;
  // Whether Student's t test decided the verdict: not with fewer than kFewestReplicates, nor if all differences are the
  // same. Only such rows count as tests for Holm's method.
  bool is_tested = false;
};

// Three or more methods over two or more tasks by one metric. Each task counts once, with the mean over its levels of
// openness of the mean over splits.
struct ComparedMethods {
  std::string metric;  // by the table's name
  std::vector<std::string> methods;
  int tasks = 0;
  FriedmanTest test;
};

struct RunComparison {
  std::vector<std::string> notes;
  std::string group;  // of the unknown samples ("pool": all), if the table has several groups; otherwise ""
  PairedTestOptions options;
  std::string baseline;     // the method that all others are compared with; "" for all pairs
  std::string assumptions;  // the tests' assumptions, in one line; "" without tests
  std::vector<ComparedRuns> pairs;
  std::vector<ComparedMethods> methods;
  // What could not be compared or was ignored, and why: a line for each reason and metric.
  std::vector<std::string> left_out;
  std::vector<std::string> hints;  // what may be wrong with the table
};

// `metrics`: columns of the table, members of MetricSpec, or names with a level (LevelName(), metric.h); empty: all of
// the table. Runs that only one of two methods has are not compared, but counted. With a `baseline` (a row of the
// table; or a method or a swept value, which stands for its first row), the others are compared with it alone: fewer
// tests, so smaller adjusted p-values. Runs of one split are not independent replicates (paired_tests.h). A difference
// is detectable if it has kFewestReplicates and its interval at Holm's level excludes 0, that is, if Holm's p-value is
// below 1 - confidence. Errors, kInvalidArgument: fewer than two methods, metrics that the table or the project does
// not know, an unknown baseline, values of a metric that is a share outside 0 .. 1 (percent, for example; Youden's
// index may be negative), and a table of which nothing can be compared (with the reasons).
absl::StatusOr<RunComparison> CompareRuns(const RunTable& table, const std::vector<std::string>& metrics,
                                          const PairedTestOptions& options, const std::string& baseline = "");

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_RUN_COMPARISON_H_
