#include "experiments/study/until.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "data/splits/class_splits.h"
#include "data/task.pb.h"
#include "eval/metrics/display.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/metric.pb.h"
#include "eval/statistics/paired_tests.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

constexpr int kDefaultDraws = 20;

absl::Status Problem(const Experiment& experiment, const std::string& field, const std::string& message) {
  const std::string path = absl::StrCat("until", field.empty() ? "" : ".", field);
  return absl::InvalidArgumentError(absl::StrCat(experiment.source.Where(path), ": ", message));
}

// Names the first splits, because a task may get more: all that it has.
absl::Status NameSplits(Experiment* experiment) {
  if (experiment->spec.split_size() > 0) return absl::OkStatus();
  const int64_t splits = CountSplits(experiment->tasks[0]);
  for (const TaskSpec& task : experiment->tasks) {
    if (CountSplits(task) != splits) {
      return Problem(*experiment, "",
                     "the tasks have different numbers of splits: name the first ones (split: [0, 1, 2])");
    }
  }
  for (int s = 0; s < splits; ++s) experiment->spec.add_split(s);
  return absl::OkStatus();
}

absl::Status PrepareTask(const Experiment& experiment, TaskSpec* task) {
  const ExperimentSpec& spec = experiment.spec;
  const std::string where = absl::StrCat("task ", task->name(), " ");
  if (task->has_cross_validation()) {
    return Problem(experiment, "",
                   absl::StrCat(where,
                                "has cross-validation, whose folds are not independent replicates: use a task "
                                "with draws of classes"));
  }
  const int first = spec.split_size();
  if (first < kFewestReplicates) {
    return Problem(experiment, "",
                   absl::StrCat("splits are the replicates, and ", where, "begins with ", first, ": take at least ",
                                kFewestReplicates, " (split: [0, 1, 2])"));
  }
  int most = spec.until().max_splits();
  if (task->has_drawn()) {
    if (task->drawn().level_size() != 1) {
      return Problem(experiment, "",
                     absl::StrCat(where, "draws several levels of openness: use a task for each level"));
    }
    if (most == 0) most = std::max(kDefaultDraws, first);
    task->mutable_drawn()->set_repeats(std::max(task->drawn().repeats(), most));
  } else {
    const int listed = task->split_size();
    if (most > listed) {
      return Problem(
          experiment, "max_splits",
          absl::StrCat("is ", most, ", but ", where, "lists ", listed, " splits and has no others: take at most ",
                       listed, ", or a task that draws its splits (`drawn`)"));
    }
    if (most == 0) most = listed;
  }
  if (most < first) {
    return Problem(experiment, "max_splits",
                   absl::StrCat("is ", most, ", fewer than the ", first, " splits that ", where, "begins with"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareUntil(Experiment* experiment) {
  const ExperimentSpec& spec = experiment->spec;
  if (!spec.has_until()) return absl::OkStatus();
  if (experiment->tasks.empty()) return absl::OkStatus();  // Expand() says so
  std::vector<std::string> names;
  for (const MetricSpec& metric : spec.metric()) names.push_back(MetricName(metric));
  const std::string name = MetricName(spec.until().metric());
  if (!absl::c_linear_search(names, name)) {
    return Problem(*experiment, "metric",
                   absl::StrCat("the study does not measure ", name, "; it measures ", absl::StrJoin(names, ", ")));
  }
  if (spec.until().max_seeds() > 0 && spec.until().max_seeds() < spec.seed_size()) {
    return Problem(*experiment, "max_seeds",
                   absl::StrCat("is ", spec.until().max_seeds(), ", fewer than the ", spec.seed_size(), " of `seed`"));
  }
  OPENSET_RETURN_IF_ERROR(NameSplits(experiment));
  for (TaskSpec& task : experiment->tasks) OPENSET_RETURN_IF_ERROR(PrepareTask(*experiment, &task));
  return absl::OkStatus();
}

absl::StatusOr<UntilTrials> ExpandUntil(const ExpandOptions& options, Experiment* experiment) {
  const ExperimentSpec spec = experiment->spec;
  const Until& until = spec.until();
  std::vector<uint64_t> seeds(spec.seed().begin(), spec.seed().end());
  while (static_cast<int>(seeds.size()) < until.max_seeds()) seeds.push_back(*absl::c_max_element(seeds) + 1);
  UntilTrials all;
  ExpandOptions with_splits = options;
  std::set<int> any;
  for (const TaskSpec& task : experiment->tasks) {
    UntilTask& of_task = all.tasks[task.name()];
    const int has = static_cast<int>(CountSplits(task));
    const int most = until.max_splits() > 0 ? until.max_splits() : has;
    of_task.splits.assign(spec.split().begin(), spec.split().end());
    for (int s = 0; s < has && static_cast<int>(of_task.splits.size()) < most; ++s) {
      if (!absl::c_linear_search(of_task.splits, s)) of_task.splits.push_back(s);
    }
    of_task.first = {spec.split_size(), spec.seed_size()};
    of_task.most = {static_cast<int>(of_task.splits.size()), static_cast<int>(seeds.size())};
    with_splits.splits[task.name()] = of_task.splits;
    any.insert(of_task.splits.begin(), of_task.splits.end());
  }
  experiment->spec.mutable_seed()->Assign(seeds.begin(), seeds.end());
  experiment->spec.mutable_split()->Assign(any.begin(), any.end());
  const absl::Status resolved = ResolveSplitWeights(experiment);
  absl::StatusOr<std::vector<Trial>> trials = resolved.ok() ? Expand(*experiment, with_splits) : resolved;
  experiment->spec = spec;
  OPENSET_RETURN_IF_ERROR(trials.status());
  all.trials = *std::move(trials);
  OPENSET_ASSIGN_OR_RETURN(all.searches, ExpandSearches(*experiment, all.trials, options.max_trials));
  return all;
}

namespace {

// A trial as written or, with a search, as tuned: indices in UntilTrials.
struct UntilRun {
  int trial;
  int search = -1;

  bool operator<(const UntilRun& other) const { return std::tie(trial, search) < std::tie(other.trial, other.search); }
};

// The runs of a row on a level, by the position of the split in UntilTask.splits and of the seed.
using Runs = std::map<std::pair<int, int>, UntilRun>;

struct LevelRows {
  std::vector<std::string> rows;  // in the order of the trials
  std::map<int, int> draws;       // of the positions of splits: equal draws of classes are one split in tests
  std::map<std::string, Runs> runs;
};

std::string MethodOf(const UntilTrials& all, const UntilRun& run) {
  return absl::StrCat(all.trials[run.trial].method().name(), run.search >= 0 ? kTunedSuffix : "");
}

std::string RowOf(const UntilTrials& all, const UntilRun& run) {
  const Trial& trial = all.trials[run.trial];
  return RowName(MethodOf(all, run), {trial.axis().begin(), trial.axis().end()});
}

// Each trial as written, followed by the same one as tuned if it has a search.
std::vector<UntilRun> AllRuns(const UntilTrials& all) {
  std::vector<UntilRun> runs;
  int search = 0;
  for (int t = 0; t < static_cast<int>(all.trials.size()); ++t) {
    runs.push_back({t});
    if (search < static_cast<int>(all.searches.size()) && all.searches[search].trial == t)
      runs.push_back({t, search++});
  }
  return runs;
}

// The row of the baseline.
absl::StatusOr<std::string> FindBaseline(const Experiment& experiment, const UntilTrials& all,
                                         const std::vector<UntilRun>& runs) {
  Report report;  // with the rows only
  std::set<std::string> rows;
  for (const UntilRun& run : runs) {
    if (!rows.insert(RowOf(all, run)).second) continue;
    const Trial& trial = all.trials[run.trial];
    ReportCell& cell = report.cells.emplace_back();
    cell.method = MethodOf(all, run);
    cell.axis.assign(trial.axis().begin(), trial.axis().end());
  }
  const Until& until = experiment.spec.until();
  const std::string& wanted = until.has_baseline() ? until.baseline() : experiment.spec.report().baseline();
  const std::string row = BaselineRow(report, wanted);
  if (row.empty()) {
    return Problem(experiment, "baseline",
                   absl::StrCat("there is no row '", wanted, "'; there are ", absl::StrJoin(rows, "; ")));
  }
  if (rows.size() < 2) return Problem(experiment, "", absl::StrCat("there is no row to compare with ", row));
  return row;
}

// One comparison, look by look.
class Comparison {
 public:
  Comparison(const SequentialDesign& design, const Runs& method, const Runs& baseline, const std::map<int, int>& draws,
             double difference)
      : design_(design), method_(method), baseline_(baseline), draws_(draws), difference_(difference) {}

  // Adds the runs of all looks that were reached to `used`. `value` gives a run's value.
  absl::Status Run(const std::function<absl::StatusOr<std::optional<MetricRecord>>(const UntilRun&)>& value,
                   std::set<UntilRun>* used, UntilComparison* found) const {
    using Verdict = UntilComparison::Verdict;
    for (size_t k = 0; k < design_.looks.size(); ++k) {
      const Look& look = design_.looks[k];
      found->splits = look.splits;
      found->seeds = look.seeds;
      std::vector<double> a, b;
      std::vector<int> draw;
      bool is_complete = true;
      for (const auto& [place, run] : method_) {
        if (place.first >= look.splits || place.second >= look.seeds) continue;
        for (const auto& [of, values] : {std::pair{run, &a}, std::pair{baseline_.at(place), &b}}) {
          used->insert(of);
          OPENSET_ASSIGN_OR_RETURN(const std::optional<MetricRecord> record, value(of));
          if (!record.has_value()) is_complete = false;
          if (!record.has_value()) continue;
          if (!record->has_value()) {
            found->verdict = Verdict::kUndefined;
            found->reason = record->absent_reason();
          }
          values->push_back(record->value());
        }
        draw.push_back(draws_.at(place.first));
      }
      if (found->verdict == Verdict::kUndefined || !is_complete) return absl::OkStatus();
      OPENSET_ASSIGN_OR_RETURN(const LookResult seen, LookAt(design_, k, a, b, draw, difference_));
      found->looks = static_cast<int>(k) + 1;
      found->difference = seen.test.mean_difference;
      found->interval.reset();
      if (std::isfinite(seen.low)) found->interval = {seen.low, seen.high};
      found->verdict = seen.finding == Finding::kALarger    ? Verdict::kHigher
                       : seen.finding == Finding::kBLarger  ? Verdict::kLower
                       : seen.finding == Finding::kExcluded ? Verdict::kExcluded
                                                            : Verdict::kOpen;
      if (found->verdict != Verdict::kOpen) return absl::OkStatus();
    }
    found->verdict = Verdict::kUndecided;
    return absl::OkStatus();
  }

 private:
  const SequentialDesign& design_;
  const Runs& method_;
  const Runs& baseline_;
  const std::map<int, int>& draws_;
  const double difference_;
};

template <typename Value>
int PositionOf(const std::vector<Value>& values, const Value& value) {
  return static_cast<int>(absl::c_find(values, value) - values.begin());
}

}  // namespace

absl::StatusOr<UntilState> ReplayUntil(const Experiment& experiment, const UntilTrials& all, const LoadMetric& load) {
  const Until& until = experiment.spec.until();
  const std::vector<UntilRun> runs = AllRuns(all);
  OPENSET_ASSIGN_OR_RETURN(const std::string baseline, FindBaseline(experiment, all, runs));
  std::map<openset::Level, LevelRows> levels;
  std::vector<openset::Level> order;
  std::map<std::string, std::vector<uint64_t>> seeds;  // of each task, in order
  Draws draws;
  for (const UntilRun& run : runs) {
    const Trial& trial = all.trials[run.trial];
    const openset::Level level = {trial.task(), trial.data().test_known().class_id_size(),
                                  CountUnknownClasses(trial.data())};
    const auto [at, is_new] = levels.try_emplace(level);
    if (is_new) order.push_back(level);
    const std::string row = RowOf(all, run);
    if (at->second.runs.count(row) == 0) at->second.rows.push_back(row);
    std::vector<uint64_t>& of_task = seeds[trial.task()];
    if (!absl::c_linear_search(of_task, trial.seed())) of_task.push_back(trial.seed());
    const std::pair<int, int> place = {PositionOf(all.tasks.at(trial.task()).splits, trial.split()),
                                       PositionOf(of_task, trial.seed())};
    at->second.runs[row][place] = run;
    at->second.draws[place.first] = draws.Of(level, trial.split(), trial.data());
  }
  UntilState state;
  UntilReport& report = state.report;
  MetricSpec metric = until.metric();
  FillDefaults(&metric);
  report.metric = MetricName(metric);
  report.group = until.group();
  report.baseline = baseline;
  report.display = DisplayOf(metric);
  report.size = until.difference();
  report.level = until.level();
  report.most_trials = static_cast<int>(runs.size());
  int comparisons = 0;
  for (const auto& [level, rows] : levels) comparisons += static_cast<int>(rows.rows.size()) - 1;
  std::map<UntilRun, std::optional<MetricRecord>> loaded;
  const auto value = [&](const UntilRun& run) -> absl::StatusOr<std::optional<MetricRecord>> {
    const auto found = loaded.find(run);
    if (found != loaded.end()) return found->second;
    const TrialSearch* search = run.search < 0 ? nullptr : &all.searches[run.search];
    OPENSET_ASSIGN_OR_RETURN(std::optional<MetricRecord> record, load(all.trials[run.trial], search));
    return loaded[run] = std::move(record);
  };
  std::set<UntilRun> used;
  std::map<std::tuple<int, int, int>, SequentialDesign> designs;  // of the first and the last look; seeds are the same
  for (const auto& level : order) {
    const LevelRows& rows = levels[level];
    const UntilTask& task = all.tasks.at(std::get<0>(level));
    const auto [made, is_new] = designs.try_emplace({task.first.splits, task.most.splits, task.most.seeds});
    SequentialDesign& design = made->second;
    if (is_new) design = MakeSequentialDesign(task.first, task.most, until.level() / comparisons);
    state.first_splits = std::max(state.first_splits, task.first.splits);
    state.most_splits = std::max(state.most_splits, task.most.splits);
    state.most_seeds = std::max(state.most_seeds, task.most.seeds);
    for (const std::string& row : rows.rows) {
      if (row == baseline) continue;
      UntilComparison& found = report.comparisons.emplace_back();
      found.row = row;
      std::tie(found.task, found.known_classes, found.unknown_classes) = level;
      for (const TaskSpec& of : experiment.tasks) {
        if (of.name() == found.task && !of.has_drawn()) found.listed_splits = static_cast<int>(CountSplits(of));
      }
      state.last_levels.push_back(design.levels.back());
      const Runs &runs = rows.runs.at(row), &of_baseline = rows.runs.at(baseline);
      const UntilRun &first = runs.begin()->second, &other = of_baseline.begin()->second;
      const bool are_tuned = first.search >= 0 || other.search >= 0;
      if (!are_tuned && TrialId(all.trials[first.trial]) == TrialId(all.trials[other.trial])) {
        found.verdict = UntilComparison::Verdict::kSame;
        std::tie(found.splits, found.seeds) = std::pair(task.first.splits, task.first.seeds);
        for (const auto& [place, run] : runs) {
          if (place.first < task.first.splits && place.second < task.first.seeds) used.insert(run);
        }
        continue;
      }
      const Comparison comparison(design, runs, of_baseline, rows.draws, until.difference() / report.display.factor);
      OPENSET_RETURN_IF_ERROR(comparison.Run(value, &used, &found));
    }
  }
  for (const UntilRun& run : used) {
    if (state.trials.empty() || state.trials.back() != run.trial) state.trials.push_back(run.trial);
    if (run.search >= 0) state.searches.push_back(run.search);
  }
  report.trials = static_cast<int>(used.size());
  return state;
}

std::string RoundLine(const UntilState& state) {
  const auto is_open = [](const UntilComparison& c) { return c.verdict == UntilComparison::Verdict::kOpen; };
  const auto& comparisons = state.report.comparisons;
  const auto open = absl::c_count_if(comparisons, is_open);
  const auto undecided = absl::c_count_if(
      comparisons, [](const UntilComparison& c) { return c.verdict == UntilComparison::Verdict::kUndecided; });
  std::string line = absl::StrCat("until: ", comparisons.size() - open, " of ", comparisons.size(),
                                  comparisons.size() == 1 ? " comparison is" : " comparisons are", " finished",
                                  undecided == 0 ? "" : absl::StrCat(" (", undecided, " undecided)"));
  if (open == 0) return absl::StrCat(line, ".");
  std::set<int> splits, seeds;
  for (const UntilComparison& c : comparisons) {
    if (is_open(c)) splits.insert(c.splits);
    if (is_open(c)) seeds.insert(c.seeds);
  }
  const auto range = [](const std::set<int>& counts, const char* what) {
    const std::string text =
        counts.size() == 1 ? absl::StrCat(*counts.begin()) : absl::StrCat(*counts.begin(), " to ", *counts.rbegin());
    return absl::StrCat(text, " ", what, text == "1" ? "" : "s");
  };
  return absl::StrCat(line, "; next look: ", range(splits, "split"), ", ", range(seeds, "seed"), ".");
}

LoadMetric MetricInStore(const Until& until, const Store& store) {
  MetricSpec metric = until.metric();
  FillDefaults(&metric);
  return [name = MetricName(metric), group = until.group(), &store](
             const Trial& written, const TrialSearch* search) -> absl::StatusOr<std::optional<MetricRecord>> {
    constexpr int kWithout[] = {TrialRecord::kEpochFieldNumber, TrialRecord::kDetailsFieldNumber};
    MetricRecord absent;
    std::optional<Trial> trial = written;
    if (search != nullptr) {
      absl::StatusOr<std::optional<Trial>> tuned = TunedTrial(written, *search, store);
      if (absl::IsFailedPrecondition(tuned.status())) {
        absent.set_absent_reason(std::string(tuned.status().message()));
        return absent;
      }
      OPENSET_ASSIGN_OR_RETURN(trial, std::move(tuned));
      if (!trial.has_value()) return std::nullopt;
    }
    TrialRecord record;
    const absl::Status status = store.LoadRecord(TrialId(*trial), kWithout, &record);
    if (absl::IsNotFound(status) || absl::IsDataLoss(status)) return std::nullopt;
    OPENSET_RETURN_IF_ERROR(status);
    for (const MetricRecord& measured : record.metric()) {
      if (IsMeasured(measured, name) && GroupText(measured.group()) == group) return measured;
    }
    absent.set_absent_reason(absl::StrCat("the record has no ", name, " of ", group));
    return absent;
  };
}

}  // namespace openset
