#include "tools/cli/score/one_run.h"

#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "eval/files/sample_set.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/sample_comparison.h"
#include "eval/statistics/bootstrap.h"
#include "eval/statistics/delong.h"
#include "eval/statistics/intervals.h"
#include "eval/statistics/paired_tests.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {

absl::StatusOr<std::vector<TrialResult>> WithOutputs(const Study& study, const StudyResults& results) {
  std::vector<TrialResult> measured;
  bool any = false;
  for (const TrialResult& result : results.results) {
    if (result.record == nullptr) continue;
    OPENSET_ASSIGN_OR_RETURN(const bool has, study.store().HasOutputs(result.record->outputs_key()));
    any = any || has;
    measured.push_back(result);
  }
  return any ? measured : std::vector<TrialResult>();
}

bool AreOfOneRun(const std::vector<TrialResult>& results) {
  const auto run_of = [](const TrialResult& result) {
    return std::tuple(result.trial->task(), result.trial->split(), result.trial->seed(),
                      result.record->counts().unknown_classes());
  };
  return results.size() > 1 &&
         absl::c_all_of(results, [&](const TrialResult& result) { return run_of(result) == run_of(results[0]); });
}

namespace {

// The value of `metric` on all unknown samples.
const MetricRecord* OnPool(const TrialRecord& record, const std::string& metric) {
  for (const MetricRecord& found : record.metric()) {
    if (found.name() == metric && found.group().kind() == MetricGroup::POOL && found.has_value()) return &found;
  }
  return nullptr;
}

}  // namespace

std::optional<int> BestOf(const std::vector<TrialResult>& results, const std::string& metric) {
  std::optional<int> best;
  std::optional<double> best_value;
  for (size_t r = 0; r < results.size(); ++r) {
    const MetricRecord* const found = OnPool(*results[r].record, metric);
    if (found == nullptr) continue;
    const double value = found->higher_is_better() ? found->value() : -found->value();
    if (best_value.has_value() && value <= *best_value) continue;
    best_value = value;
    best = static_cast<int>(r);
  }
  return best;
}

namespace {

constexpr char kAuroc[] = "auroc";
constexpr double kAlpha = 0.05;

struct ToldApart {
  std::vector<bool> apart;  // of each result
  std::string test;
  int64_t samples = 0;
};

// An upper bound of DeLong's standard error of an AUROC: a sample's placement lies in 0 .. 1, so that the variance of n
// placements with this mean is at most auroc (1 - auroc) n / (n - 1).
double MostStandardError(const TrialRecord& record) {
  const double auroc = OnPool(record, kAuroc)->value();
  const double known = static_cast<double>(record.counts().known());
  const double unknown = static_cast<double>(record.counts().unknown());
  return std::sqrt(auroc * (1 - auroc) * (1 / (known - 1) + 1 / (unknown - 1)));
}

// Whether the recorded values alone say that the test tells these two apart, after any correction over `tests` tests:
// the standard error of a difference is at most the sum of both.
bool IsFarBelow(const TrialRecord& best, const TrialRecord& other, size_t tests) {
  const double difference = std::abs(OnPool(best, kAuroc)->value() - OnPool(other, kAuroc)->value());
  const double most = MostStandardError(best) + MostStandardError(other);
  return difference > 0 && difference > -NormalQuantile(kAlpha / (2 * static_cast<double>(tests))) * most;
}

// Tests the AUROC of each result against the best one's. Scores that are far below it are not computed: their p-values
// are below kAlpha divided by the number of tests, so that Holm's method rejects them, and the others as if they were
// 0.
absl::StatusOr<ToldApart> TestAgainst(size_t best, const std::vector<TrialResult>& results, const Store& store) {
  std::deque<SampleSet> samples(results.size());
  std::deque<std::optional<RankedInput>> ranked(results.size());
  std::vector<size_t> order = {best};
  for (size_t r = 0; r < results.size(); ++r) {
    if (r != best) order.push_back(r);
  }
  for (const size_t r : order) {
    const bool is_clustered = !samples[best].cluster.empty();
    if (r != best && !is_clustered && IsFarBelow(*results[best].record, *results[r].record, results.size() - 1)) {
      continue;
    }
    SampleSet& set = samples[r];
    OPENSET_ASSIGN_OR_RETURN(set, ScoredSamplesOf(*results[r].trial, store));
    set.logits = {};  // AUROC needs only the scores
    set.num_outputs = 0;
    set.probability_logits = {};
    set.probability_outputs = 0;
    OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, set.Input());
    ranked[r].emplace(input);
  }
  ToldApart told{std::vector<bool>(results.size(), false), "DeLong's paired test", samples[best].num_samples};
  if (!samples[best].cluster.empty()) {
    told.test = "the paired bootstrap of clusters";
    BootstrapOptions options;
    options.threads = NumThreads();
    MetricSpec metric;
    metric.mutable_auroc();
    std::vector<std::string> names;
    std::vector<const RankedInput*> inputs;
    for (const std::optional<RankedInput>& input : ranked) {
      names.push_back(absl::StrCat(inputs.size()));
      inputs.push_back(&*input);
    }
    OPENSET_ASSIGN_OR_RETURN(const SampleComparison comparison,
                             CompareOnSamples({metric}, names, inputs, options, static_cast<int>(best)));
    for (const ComparedMetric& row : comparison.rows) {
      const size_t other = absl::c_find(names, row.a == names[best] ? row.b : row.a) - names.begin();
      told.apart[other] = row.difference.has_value() && row.adjusted_p_value < kAlpha;
    }
    return told;
  }
  std::vector<double> p_values;
  for (size_t r = 0; r < ranked.size(); ++r) {
    if (r == best) continue;
    if (!ranked[r].has_value()) {
      p_values.push_back(0);
      continue;
    }
    OPENSET_ASSIGN_OR_RETURN(const DeLongComparison test,
                             DeLongPaired(*ranked[best], *ranked[r], PairStatistic::kAuroc));
    p_values.push_back(test.p_value);
  }
  const std::vector<double> adjusted = HolmAdjusted(p_values);
  for (size_t r = 0, test = 0; r < ranked.size(); ++r) {
    if (r != best) told.apart[r] = adjusted[test++] < kAlpha;
  }
  return told;
}

}  // namespace

absl::Status MarkAmongBest(const Study& study, const StudyResults& results, Report* report) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<TrialResult> measured, WithOutputs(study, results));
  std::map<Level, std::vector<TrialResult>> levels;
  for (const TrialResult& result : measured) {
    if (OnPool(*result.record, kAuroc) != nullptr) levels[LevelOf(*result.trial)].push_back(result);
  }
  for (const auto& [level, of_level] : levels) {
    if (!AreOfOneRun(of_level)) continue;
    const int best = *BestOf(of_level, kAuroc);
    OPENSET_ASSIGN_OR_RETURN(const ToldApart told, TestAgainst(best, of_level, study.store()));
    std::set<std::string> rows;
    for (size_t r = 0; r < of_level.size(); ++r) {
      if (!told.apart[r]) rows.insert(RowName(*of_level[r].trial));
    }
    for (ReportCell& cell : report->cells) {
      cell.among_best = cell.among_best || (LevelOf(cell) == level && cell.group == kPool && cell.metric == kAuroc &&
                                            rows.count(RowName(cell)) > 0);
    }
    report->note_lines.push_back(absl::StrCat(
        levels.size() > 1 ? absl::StrCat(std::get<0>(level), ": ") : "",
        "† is the best AUROC on all unknown samples, and each that ", told.test, " on the same ", told.samples,
        " samples doesn't tell apart from it (Holm's p of at least 0.05 over ", of_level.size() - 1,
        of_level.size() == 2 ? " test" : " tests", "; 'openset compare ", study.name(), "' shows them). The best of ",
        of_level.size(),
        " is chosen on the test samples here, so that its value is too good by some amount: choose on validation "
        "samples, then measure only the chosen method on these (docs/score.md)."));
  }
  return absl::OkStatus();
}

}  // namespace openset
