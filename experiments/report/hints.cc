#include "experiments/report/hints.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "data/task.pb.h"
#include "eval/report/evaluation_hints.h"
#include "eval/statistics/intervals.h"
#include "eval/statistics/paired_tests.h"
#include "eval/statistics/plausibility.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/details.pb.h"

namespace openset {
namespace {

constexpr double kGain = 0.2;
constexpr double kLeast = 0.5;
constexpr double kDoubt = 0.001;

struct ClosedSet {
  int64_t samples = 0;
  int64_t right = 0;
};

ClosedSet ClosedSetOf(const TrialRecord& record) {
  ClosedSet closed;
  for (const ClassDecisions& known : record.details().decisions().known()) {
    closed.samples += known.samples();
    closed.right += known.right();
  }
  return closed;
}

// Accepted samples by their class in the data set of the known classes and their prediction.
struct ClassPrediction {
  int64_t class_id = 0;
  int prediction = 0;
  int64_t samples = 0;
};

// Whether the unknown classes of a row of decisions are of the data set of the known ones.
bool IsOfKnownData(const TrialSpec& trial, const ClassDecisions& unknown) {
  for (const UnknownGroup& group : trial.data().test_unknown()) {
    if (unknown.has_set() && group.name() != unknown.set()) continue;
    if (group.selection().data_set() != trial.data().test_known().data_set()) return false;
  }
  return true;
}

std::vector<ClassPrediction> AcceptedOf(const TrialSpec& trial, const DecisionTable& decisions) {
  std::vector<ClassPrediction> accepted;
  for (const Confusion& cell : decisions.confusion()) {
    const bool is_known = cell.actual() >= 0;
    const ClassDecisions& row = is_known ? decisions.known(cell.actual()) : decisions.unknown(-1 - cell.actual());
    if (is_known || IsOfKnownData(trial, row)) accepted.push_back({row.class_id(), cell.predicted(), cell.samples()});
  }
  return accepted;
}

// The number of samples of these classes that a network whose output k is known[k] classifies correctly.
struct Fit {
  int64_t samples = 0;
  int64_t right = 0;
  int classes = 0;  // with samples

  double accuracy() const { return samples > 0 ? static_cast<double>(right) / static_cast<double>(samples) : 0; }
};

Fit FitOf(const std::vector<ClassPrediction>& accepted, const std::vector<int>& known) {
  std::map<int64_t, int> place;
  for (size_t k = 0; k < known.size(); ++k) place[known[k]] = static_cast<int>(k);
  Fit fit;
  std::set<int64_t> seen;
  for (const ClassPrediction& cell : accepted) {
    const auto found = place.find(cell.class_id);
    if (found == place.end()) continue;
    fit.samples += cell.samples;
    if (cell.prediction == found->second) fit.right += cell.samples;
    seen.insert(cell.class_id);
  }
  fit.classes = static_cast<int>(seen.size());
  return fit;
}

// A hint that the outputs have another order of classes, and the accuracy with that order.
struct OtherClasses {
  ResultHint hint;
  double accuracy = 0;
};

std::optional<OtherClasses> OtherSplit(const TrialSpec& trial, const std::vector<ClassPrediction>& accepted,
                                       const std::vector<std::vector<int>>& splits) {
  const auto& ids = trial.data().test_known().class_id();
  const std::vector<int> own(ids.begin(), ids.end());
  const Fit plain = FitOf(accepted, own);
  int best = -1;
  Fit best_fit;
  for (size_t s = 0; s < splits.size(); ++s) {
    if (splits[s].size() != own.size() || splits[s] == own) continue;
    const Fit fit = FitOf(accepted, splits[s]);
    if (2 * fit.classes < splits[s].size() || fit.accuracy() <= best_fit.accuracy()) continue;
    best = static_cast<int>(s);
    best_fit = fit;
  }
  if (best < 0) return std::nullopt;
  const double confidence = 1 - kDoubt / static_cast<double>(splits.size());
  const double low = ClopperPearson(best_fit.right, best_fit.samples, confidence).low;
  if (low < std::max(kLeast, plain.accuracy() + kGain)) return std::nullopt;
  ResultHint hint;
  hint.kind = ResultHint::Kind::kOtherSplit;
  hint.split = best;
  hint.text = absl::StrFormat(
      "on accepted samples, accuracy is %.1f %% with the classes of split %d of %s, and %.1f %% with those of split %d",
      100 * plain.accuracy(), trial.split(), trial.task(), 100 * best_fit.accuracy(), best);
  return OtherClasses{std::move(hint), best_fit.accuracy()};
}

std::optional<OtherClasses> OtherOrder(const TrialSpec& trial, const DecisionTable& decisions) {
  std::vector<LabelledPredictions> counts;
  for (const Confusion& cell : decisions.confusion()) {
    if (cell.actual() >= 0) counts.push_back({cell.actual(), cell.predicted(), cell.samples()});
  }
  const std::optional<ClassOrder> order = BetterOrder(counts, trial.data().test_known().class_id_size());
  if (!order.has_value()) return std::nullopt;
  ResultHint hint;
  hint.kind = ResultHint::Kind::kOtherOrder;
  hint.prediction_of = order->prediction_of;
  hint.text = "on accepted samples, " + OtherOrderText(*order);
  return OtherClasses{std::move(hint), order->accuracy};
}

// For a trial's predictions.
std::optional<ResultHint> AccuracyHint(const TrialResult& result, const KnownClassesOfTasks& splits) {
  const TrialSpec& trial = *result.trial;
  const DecisionTable& decisions = result.record->details().decisions();
  const ClosedSet closed = ClosedSetOf(*result.record);
  // If four of five are right, no other order can be better by a fifth.
  if (closed.samples == 0 || closed.right >= 0.8 * closed.samples) return std::nullopt;
  if (!trial.method().has_training()) {
    std::optional<OtherClasses> split;
    const auto of_task = splits.find(trial.task());
    if (of_task != splits.end()) split = OtherSplit(trial, AcceptedOf(trial, decisions), of_task->second);
    std::optional<OtherClasses> order = OtherOrder(trial, decisions);
    if (order.has_value() && (!split.has_value() || order->accuracy > split->accuracy)) return std::move(order->hint);
    if (split.has_value()) return std::move(split->hint);
  }
  const int classes = trial.data().test_known().class_id_size();
  if (!IsNearChance(closed.right, closed.samples, classes)) return std::nullopt;
  ResultHint hint;
  hint.text = NearChanceText(closed.right, closed.samples, classes);
  return hint;
}

// For the pool.
std::optional<double> PoolAuroc(const TrialRecord& record) {
  const SampleCounts& counts = record.counts();
  if (counts.known() == 0 || counts.unknown() == 0) return std::nullopt;
  for (const MetricRecord& metric : record.metric()) {
    if (metric.name() != "auroc" || metric.group().kind() != MetricGroup::POOL || !metric.has_value()) continue;
    return metric.value();
  }
  return std::nullopt;
}

// Runs together are below 50 % by at least this, and by a one-sided t test at this level: of methods whose true AUROC
// is 50 %, at most 5 % get a wrong hint.
constexpr double kTogetherLeast = 0.02, kTogetherLevel = 0.05;
constexpr int kRareRuns = 5;  // at most one in so many runs is rare

// For all trials whose accuracy is not suspicious.
std::optional<ResultHint> AurocHint(absl::Span<const TrialResult> results, const std::set<std::string>& suspicious) {
  std::vector<std::string> order;
  struct Lowest {
    double auroc;
    const TrialSpec* trial;
    double sum = 0;
    int trials = 0;  // with a value
    int below = 0;   // clearly below 50 %
  };
  std::map<std::string, Lowest> lowest;  // by method
  struct Runs {
    const TrialSpec* first = nullptr;
    std::vector<double> auroc;
    std::vector<int> draws;
  };
  Draws draws;
  std::vector<std::pair<std::string, Level>> levels;  // of methods, in the order of the trials
  std::map<std::pair<std::string, Level>, Runs> runs_of;
  std::set<std::string> below;
  ResultHint hint;
  hint.kind = ResultHint::Kind::kBelowHalf;
  for (const TrialResult& result : results) {
    if (result.record == nullptr || suspicious.count(result.record->checkpoint_key()) > 0) continue;
    const std::optional<double> auroc = PoolAuroc(*result.record);
    if (!auroc.has_value()) continue;
    const std::string row = RowName(*result.trial);
    Lowest& of_row = lowest.emplace(row, Lowest{*auroc, result.trial}).first->second;
    of_row.sum += *auroc;
    ++of_row.trials;
    const std::pair<std::string, Level> level = {row, LevelOf(*result.trial)};
    Runs& runs = runs_of[level];
    if (runs.auroc.empty()) {
      runs.first = result.trial;
      levels.push_back(level);
    }
    runs.auroc.push_back(*auroc);
    runs.draws.push_back(draws.Of(level.second, result.trial->split(), result.trial->data()));
    if (!IsBelowHalf(*auroc, result.record->counts().known(), result.record->counts().unknown())) continue;
    ++of_row.below;
    if (*auroc <= of_row.auroc) {
      of_row.auroc = *auroc;
      of_row.trial = result.trial;
    }
  }
  for (const auto& [row, of_row] : lowest) {
    // Among many runs, one bad draw is no sign of scores of the wrong direction.
    const bool is_rare = of_row.below * kRareRuns <= of_row.trials && of_row.sum >= 0.5 * of_row.trials;
    if (of_row.below > 0 && !is_rare) below.insert(row);
  }
  for (const std::pair<std::string, Level>& level : levels) {
    if (below.count(level.first) > 0 && !absl::c_linear_search(order, level.first)) order.push_back(level.first);
  }
  if (!order.empty()) hint.trial = lowest.at(order[0]).trial;
  // Methods of which no trial alone is clearly below, but all together are: a t test over splits (seeds of one split).
  std::vector<std::string> together;
  for (const std::pair<std::string, Level>& level : levels) {
    const Runs& runs = runs_of.at(level);
    if (below.count(level.first) > 0) continue;
    const std::vector<double> halves(runs.auroc.size(), 0.5);
    const absl::StatusOr<PairedTest> test = ComparePairedRuns(runs.auroc, halves, runs.draws);
    if (!test.ok() || test->replicates < kFewestReplicates || test->mean_difference > -kTogetherLeast) continue;
    if (test->differences != Differences::kSame && !(test->p_value.value_or(1) / 2 < kTogetherLevel)) continue;
    if (hint.trial == nullptr) hint.trial = runs.first;
    together.push_back(absl::StrFormat("%s (%.1f %% over %d %s together)", level.first,
                                       50 + 100 * test->mean_difference, test->replicates,
                                       test->splits > 1 ? "splits" : "seeds"));
  }
  if (order.empty() && together.empty()) return std::nullopt;
  std::vector<std::string> methods;
  for (const std::string& name : order) {
    const Lowest& of_row = lowest.at(name);
    methods.push_back(absl::StrFormat(
        "%s (%.1f %% at split %d, seed %d%s)", name, 100 * of_row.auroc, of_row.trial->split(), of_row.trial->seed(),
        of_row.trials > 1 ? absl::StrFormat("; mean of the table %.1f %%", 100 * of_row.sum / of_row.trials) : ""));
  }
  methods.insert(methods.end(), together.begin(), together.end());
  hint.text = absl::StrCat("AUROC is below 50 %, ", kBelowHalfText, ", by ", absl::StrJoin(methods, ", "));
  return hint;
}

}  // namespace

std::vector<ResultHint> FindHints(absl::Span<const TrialResult> results, const KnownClassesOfTasks& splits) {
  // For each checkpoint, the trial that classifies best: some scores predict the class "unknown" themselves.
  std::vector<const TrialResult*> best;
  std::map<std::string, size_t> place;
  for (const TrialResult& result : results) {
    if (result.record == nullptr || !result.record->details().has_decisions()) continue;
    const auto [entry, is_new] = place.emplace(result.record->checkpoint_key(), best.size());
    if (is_new) {
      best.push_back(&result);
    } else if (ClosedSetOf(*result.record).right > ClosedSetOf(*best[entry->second]->record).right) {
      best[entry->second] = &result;
    }
  }
  std::vector<ResultHint> hints;
  std::set<std::string> suspicious;
  for (const TrialResult* result : best) {
    std::optional<ResultHint> hint = AccuracyHint(*result, splits);
    if (!hint.has_value()) continue;
    hint->trial = result->trial;
    hints.push_back(*std::move(hint));
    suspicious.insert(result->record->checkpoint_key());
  }
  std::optional<ResultHint> auroc = AurocHint(results, suspicious);
  if (auroc.has_value()) hints.push_back(*std::move(auroc));
  return hints;
}

}  // namespace openset
