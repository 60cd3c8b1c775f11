// Results of methods over tasks, splits and seeds.
#ifndef OPENSET_EVAL_REPORT_RUN_TABLE_H_
#define OPENSET_EVAL_REPORT_RUN_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/metrics/display.h"

namespace openset {

// The key by which two methods are paired: split and seed.
struct Run {
  std::string split;
  std::string seed;
  std::string draw;  // the first split with the same known and unknown classes; "": the split itself

  bool operator<(const Run& other) const { return std::tie(split, seed) < std::tie(other.split, other.seed); }
};

// Values by metric, method, task and run.
struct RunTable {
  std::vector<std::string> methods;  // in order of appearance
  std::vector<std::string> tasks;    // each level of openness of a task is a task here
  // For each task, the task that it is a level of. Levels share known classes and trainings, so that they are not
  // independent tasks.
  std::map<std::string, std::string> block;
  std::vector<std::string> metrics;
  // How to display the metrics of a report: its study chose their names and settings. A metric without an entry is the
  // standard one of its name.
  std::map<std::string, Display> display;
  std::string baseline;              // the row that a report's stars compare with; "" if there is none
  std::vector<std::string> groups;   // of the complete file: the pool, sets of unknown samples, means over sets
  std::vector<std::string> ignored;  // columns that neither name a run nor are metrics, and metrics of other names
  std::vector<std::string> empty;    // rows without a value of any metric: "line 9"
  // value[metric][method][task][run]
  std::map<std::string, std::map<std::string, std::map<std::string, std::map<Run, double>>>> value;
};

// Reads the results of one group of unknown samples. The file is a .csv or .tsv with the columns method, task,
// unknown_classes, split, seed, group (all but method may be absent; a row without a group is of the pool) and one for
// each metric, where empty cells are missing values; or with the columns metric and value and a row for each run and
// metric, as written by `openset report --format=csv --tidy`. Column names may have any case, metrics also the names of
// core/text/synonyms.h ("AUROC", "fpr95"); `metrics` has our names. Other columns are `ignored`, apart from an index
// without a name. A split, seed or number of classes "3.0" is "3". It may also be the output of `openset report
// --format=json`; methods with axes have the names of tables, "METHOD, AXIS VALUE". Errors: a read error
// (core/files/system_calls.h); kInvalidArgument with file, line and column for values that are not finite numbers, for
// a row with values but without a method, for duplicate rows of a method, task, split and seed (with the columns that
// are missing), for two columns of one metric, for a file without methods or metrics, for a group that the file does
// not have, and for other formats.
absl::StatusOr<RunTable> ReadRunTable(const std::string& path, const std::string& group = "pool");

// The values of one cell of a report.
struct RunCell {
  std::string group;  // of unknown samples
  std::string metric;
  std::string method;  // "METHOD, AXIS VALUE"
  std::string task;
  std::string unknown_classes;
  std::vector<std::pair<Run, double>> values;
  std::optional<Display> display;  // absent if the file doesn't have it
};

// The table of the cells of one group. Metrics that are not ours and have no `display` are `ignored`. Errors,
// kInvalidArgument: a group that no cell has, no values, a value that is not finite, two values of a method, task,
// split and seed.
absl::StatusOr<RunTable> RunTableOfCells(const std::vector<RunCell>& cells, const std::string& group);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_RUN_TABLE_H_
