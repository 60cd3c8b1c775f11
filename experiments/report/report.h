// Computes the numbers of tables from records. A pure function of trials and records.
#ifndef OPENSET_EXPERIMENTS_REPORT_REPORT_H_
#define OPENSET_EXPERIMENTS_REPORT_REPORT_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/display.h"
#include "eval/statistics/variance_components.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"

namespace openset {

// A level: a task with numbers of known and unknown classes. Each level of a report has its own tables and plots.
using Level = std::tuple<std::string, int, int>;

// A trial and its record, which is null if there is none yet.
struct TrialResult {
  const TrialSpec* trial;
  const TrialRecord* record;
};

// A published number for the same measurement as a cell.
struct PublishedNumber {
  std::string source;  // "Wang et al. 2022 (OpenAUC), Table 2"
  std::string place;   // its row and column: "Ours, CIFAR10"
  double value = 0;    // in the metric's own unit, like the cell's mean
  std::optional<double> std;
  std::string form;                  // the variant of the method; may be empty
  std::vector<int> splits;           // the splits of which it is the mean, if the source has numbers of single splits
  std::vector<std::string> reasons;  // possible reasons for the difference
  std::vector<std::string> doubts;   // why the number itself may be wrong
};

// The difference between a cell's method and the study's baseline.
struct Significance {
  // Corrected by Holm's method over all tests of the metric and group. Absent if there was no test.
  std::optional<double> p_value;
  bool detectable = false;
  int replicates = 0;  // the number of splits, or of seeds of one split, that both have
  bool of_seeds = false;
  // Why there was no test: not because of too few replicates, but because all differences are the same.
  bool is_constant = false;
  // The smallest difference that the test finds in 4 of 5 studies at the first of Holm's levels, in the metric's own
  // unit. Absent without a test.
  std::optional<double> detects;
  // Of the variance of a run's difference; all absent without a test.
  VarianceShares shares;
};

// A metric of a method on a task, over splits and seeds.
struct ReportCell {
  std::string method;
  std::string task;
  std::vector<AxisValue> axis;  // values of the swept fields
  int known_classes = 0;
  int unknown_classes = 0;
  double openness = 0;
  std::string group;   // which unknown samples: "pool", or, if there are several sets, GroupText()
                       // (experiments/store/records/metric_groups.h)
  std::string metric;  // its name
  Display display;
  std::optional<std::string> shared_label;  // for all methods, if each has its own threshold
  double mean = 0;                          // of `values`; undefined if n is 0
  double std = 0;                           // population standard deviation (divided by n), as in published tables
  int n = 0;
  std::vector<double> values;  // in the order of the trials
  std::vector<int> splits;     // of each value
  std::vector<int> draws;      // of each value: Draws::Of(); empty: the splits
  std::vector<uint64_t> seeds;
  std::vector<std::optional<std::pair<double, double>>> intervals;  // of each value, if intervals were computed
  std::vector<std::vector<double>> without_blocks;                  // of each value: MetricRecord.without_block
  int missing = 0;                                                  // trials without a record
  std::vector<std::string> absent_reasons;                          // why the metric is undefined in some records
  std::vector<PublishedNumber> published;                           // experiments/report/published_numbers.h
  std::optional<Significance> significance;                         // experiments/report/statistics.h
  // Marked with a dagger: the best of its level by this metric, or not told apart from it by a test on the test
  // samples.
  bool among_best = false;
  // Fewer than other rows have: the study added no runs once the comparison was decided, or records are missing.
  bool has_fewer_runs = false;
  bool mean_of_one = false;  // the mean over the only near, or the only far set: a copy of that set's cell
};

// A trial with a record: its ids and keys, and its learning curve.
struct ReportTrial {
  std::string id;
  std::string method;
  std::string task;
  std::vector<AxisValue> axis;
  int split = 0;
  uint64_t seed = 0;
  std::string checkpoint_key;  // of an ensemble's first member, like `epochs`
  std::string outputs_key;
  std::vector<EpochSummary> epochs;
};

// The kind of spread shown after the mean of a cell: experiments/report/statistics.h.
enum class Spread { kPopulation, kSample, kInterval };

// What a study that adds runs until its comparisons are decided (Until in experiments/spec/experiment.proto) has found
// about a row.
struct UntilComparison {
  std::string row;
  std::string task;
  int known_classes = 0;
  int unknown_classes = 0;
  enum class Verdict {
    kOpen,       // more looks follow
    kHigher,     // than the baseline
    kLower,      // than the baseline
    kExcluded,   // no difference as large as UntilReport.size
    kUndecided,  // after the last look
    kUndefined,  // the metric is undefined in a run
    kSame,       // its trials are the baseline's under another name
  };
  Verdict verdict = Verdict::kOpen;
  std::string reason;  // why it is undefined
  // Of the last look, in the metric's own unit; absent before the first one. Without an interval, all differences are
  // the same, or the look may spend almost nothing of the level.
  std::optional<double> difference;
  std::optional<std::pair<double, double>> interval;
  int looks = 0;  // so far
  int splits = 0, seeds = 0;
  int listed_splits = 0;  // all that the task has; 0: it draws them
};

struct UntilReport {
  std::string metric;
  std::string group;
  std::string baseline;
  Display display;
  double size = 0;   // the difference that matters, in the unit of tables
  double level = 0;  // of all comparisons
  std::vector<UntilComparison> comparisons;
  int trials = 0;       // so far
  int most_trials = 0;  // if every comparison had stayed open
  double cpu_seconds = 0;
};

struct Report {
  std::string experiment;
  std::string spec_sha256;             // of the study's text with the changes of the command line; "" if it is unknown
  std::vector<std::string> overrides;  // flags that changed the spec (TrialSpec.overrides)
  std::map<std::string, std::string> titles;  // MethodSpec.title by name of the method, if it has a title
  std::vector<std::string> data_lines;        // lines about absent data, and how the results were found
  std::vector<ReportCell>
      cells;  // by method, axis values, task, openness, group, then metric, each in the order of the trials
  // One line for each task: classes, openness, known:unknown test samples, also of each set if there are several.
  std::vector<std::string> task_lines;
  // One line for each tuned trial: the chosen values.
  std::vector<std::string> search_lines;
  // Of the same searches: how often each choice was made, by row.
  std::map<std::string, std::map<std::string, int>> choices;
  // Other notes.
  std::vector<std::string> note_lines;
  std::vector<ReportTrial> results;  // in the order of the trials
  // Fields whose values are the rows and the columns of tables (experiments/report/report_tables.h).
  std::vector<std::string> rows, columns;
  Spread spread = Spread::kPopulation;
  std::string sort_by;               // the metric whose best rows come first; "": the order of the study
  std::string baseline;              // the row with which `significance` compares; "" if there are no tests
  std::optional<UntilReport> until;  // instead of `significance`
  // Lines about doubts and conventions of the published numbers.
  std::vector<std::string> published_lines;
  int trials = 0;
  int missing = 0;  // trials without a record
  // The part of `missing` whose outputs exist: only an evaluation by exactly these metrics is missing.
  int unevaluated = 0;
  int failed = 0;                         // the part of `missing` with an action whose last attempt failed
  std::vector<std::string> failed_lines;  // which: "vim, splits 0 and 1, seed 1"
  int waiting = 0;                        // tuned trials that wait for their search; not part of `trials`
};

// The name of a cell's row in tables and of a trial's line in plots: "openauc, lambda 0.1".
std::string RowName(const std::string& method, const std::vector<AxisValue>& axis);
std::string RowName(const ReportCell& cell);
std::string RowName(const TrialSpec& trial);

// The draws of classes. Splits of a level with the same known and unknown samples (DrawDigest() in
// data/splits/split_digest.h) are one: for tests and intervals they are one split, and their runs are further seeds.
class Draws {
 public:
  // The first of the level's splits, of those asked for so far, that is the same draw as `split`; `split` itself if
  // `data` doesn't say the classes.
  int Of(const Level& level, int split, const TaskData& data);

 private:
  std::map<std::pair<Level, int>, int> of_split_;
  std::map<std::pair<Level, std::string>, int> first_;
};

// The draw of a cell's value.
int DrawOf(const ReportCell& cell, size_t value);

// How a column or a sentence about the cells of several methods displays their metric: with `shared_label`, if there is
// one, because each cell's own label names its method's threshold.
Display SharedDisplay(const ReportCell& cell);

// Whether a value is missing because a trial has no record or its metric is undefined, or other rows have more runs.
// Such a cell is not compared with others, because its mean is over other runs.
bool IsIncomplete(const ReportCell& cell);

// Sets mean, standard deviation and n from the values.
void Summarise(ReportCell* cell);

// "lambda 0.1, alpha 2".
std::string AxisText(const std::vector<AxisValue>& axis);

Report MakeReport(const std::string& experiment, absl::Span<const TrialResult> results);

Level LevelOf(const ReportCell& cell);
Level LevelOf(const TrialSpec& trial);

// What cells share that can be compared with each other: the level, the group of unknown samples and the metric.
using Place = std::tuple<Level, std::string, std::string>;

Place PlaceOf(const ReportCell& cell);

// Titles of levels: the task, and whatever distinguishes the level from other levels of the task.
class LevelTitles {
 public:
  explicit LevelTitles(const Report& report);
  explicit LevelTitles(absl::Span<const TrialResult> results);

  // "cats"; "cats, 4 unknown classes, openness 0.134"; "cats, 6 known and 4 unknown classes, openness 0.134" if the
  // numbers of known classes differ too. Precondition: the level is one of the report or of the trials.
  std::string Of(const ReportCell& cell) const;
  std::string Of(const TrialSpec& trial) const;

  // A suffix for the name of a plot: "_cats" if there are several tasks, "_6_4" if the task has several levels, else
  // "".
  std::string SuffixOf(const TrialSpec& trial) const;

  // The number of levels, and the number of their tasks.
  int size() const;
  int tasks() const { return static_cast<int>(levels_.size()); }

 private:
  void Add(const Level& level);
  std::string Title(const Level& level, double openness) const;

  std::map<std::string, std::set<int>> known_;
  std::map<std::string, std::set<std::pair<int, int>>> levels_;
};

// ---- Makes the results of a report from records, without their study.

// Owns everything that `results` points to.
struct RecordResults {
  std::vector<TrialResult> results;
  // A line for each kind of record that was left out, and for each part of a data set whose content differs between the
  // records of a task.
  std::vector<std::string> notes;
  std::deque<TrialSpec> trials;
  std::deque<TrialRecord> records;
};

// Sorted by task, method, swept values, split and seed. If the records come from several studies, each trial gets an
// axis "study"; if they come from runs with different changes to a study, an axis "changed" (TrialSpec.overrides,
// except for --seeds and --methods, which only select trials). Leaves out candidates of a search whose tuned trial
// exists, and all but the newest of several records with the same row, task, split and seed. Within a level,
// the methods of `methods` (ExperimentSpec.method) are in this order, each tuned method after its base; then all
// others.
RecordResults ResultsOf(std::vector<TrialRecord> records,
                        const google::protobuf::RepeatedPtrField<std::string>& methods = {});

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_REPORT_H_
