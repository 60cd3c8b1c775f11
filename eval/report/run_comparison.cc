#include "eval/report/run_comparison.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_table.h"
#include "eval/metrics/names/level_name.h"
#include "eval/statistics/distributions.h"
#include "eval/statistics/verdict.h"

namespace openset {
namespace {

using Runs = std::map<Run, double>;

// An undetectable difference (no test is possible) counts as a p-value of 1.
double OrOne(const std::optional<double>& p_value) { return p_value.value_or(1); }

// A metric by name.
absl::StatusOr<MetricSpec> SpecOf(const std::string& name) {
  std::vector<std::string> known;
  for (MetricSpec& metric : AllMetrics()) {
    known.push_back(MetricName(metric));
    if (known.back() == name) return std::move(metric);
  }
  if (std::optional<MetricSpec> at_level = MetricOfLevelName(name); at_level.has_value()) return *std::move(at_level);
  return absl::InvalidArgumentError(UnknownName("metric", name, known));
}

const Runs* RunsOf(const RunTable& table, const std::string& metric, const std::string& method,
                   const std::string& task) {
  const auto& methods = table.value.at(metric);
  const auto by_method = methods.find(method);
  if (by_method == methods.end()) return nullptr;
  const auto by_task = by_method->second.find(task);
  return by_task == by_method->second.end() ? nullptr : &by_task->second;
}

std::string Pair(const std::string& a, const std::string& b, const std::string& task) {
  return absl::StrCat(a, " and ", b, task.empty() ? "" : absl::StrCat(" on ", task));
}

// For the interval of confidence 1 - level.
double HalfWidth(const PairedTest& test, double level) {
  return test.standard_error > 0 ? StudentTTwoSidedQuantile(level, test.replicates - 1) * test.standard_error : 0;
}

// All pairs, or all methods against the baseline.
std::vector<std::pair<std::string, std::string>> PairsOf(const RunTable& table, const std::string& baseline) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t a = 0; a < table.methods.size(); ++a) {
    if (!baseline.empty()) {
      if (table.methods[a] != baseline) pairs.emplace_back(table.methods[a], baseline);
      continue;
    }
    for (size_t b = a + 1; b < table.methods.size(); ++b) pairs.emplace_back(table.methods[a], table.methods[b]);
  }
  return pairs;
}

// The row with that name, or the first one with the method and all values in the name.
absl::StatusOr<std::string> RowOf(const RunTable& table, const std::string& baseline) {
  if (absl::c_linear_search(table.methods, baseline)) return baseline;
  const auto parts_of = [](const std::string& name) {
    std::vector<std::string> parts = absl::StrSplit(name, ", ");
    for (std::string& part : parts) {
      if (const size_t equals = part.find('='); equals != std::string::npos) part[equals] = ' ';
    }
    return parts;
  };
  const std::vector<std::string> wanted = parts_of(baseline);
  for (const std::string& method : table.methods) {
    const std::vector<std::string> parts = parts_of(method);
    if (absl::c_all_of(wanted, [&](const std::string& part) { return absl::c_linear_search(parts, part); })) {
      return method;
    }
  }
  return absl::InvalidArgumentError(UnknownName("baseline", baseline, table.methods));
}

// A metric with the table's own name for it, which may be another spelling than MetricName(): "fpr_at_0.80tpr".
struct NamedMetric {
  std::string name;
  MetricSpec spec;
};

// The test of two methods on one task; nothing if there are no runs, or too few for a test.
std::optional<ComparedRuns> ComparePair(const RunTable& table, const NamedMetric& metric, const std::string& a,
                                        const std::string& b, const std::string& task, RunComparison* comparison) {
  ComparedRuns row{metric.name, task, a, b, DisplayOf(metric.spec)};
  const Runs* runs_a = RunsOf(table, row.metric, a, task);
  const Runs* runs_b = RunsOf(table, row.metric, b, task);
  if (runs_a == nullptr || runs_b == nullptr) return std::nullopt;
  std::vector<double> values_a, values_b;
  std::vector<int> split;
  std::map<std::string, int> split_number;
  for (const auto& [run, value] : *runs_a) {
    const auto other = runs_b->find(run);
    if (other == runs_b->end()) continue;
    values_a.push_back(value);
    values_b.push_back(other->second);
    split.push_back(split_number.emplace(run.split, static_cast<int>(split_number.size())).first->second);
  }
  const absl::StatusOr<PairedTest> test = ComparePairedRuns(values_a, values_b, split, comparison->options);
  if (!test.ok()) {
    comparison->left_out.push_back(absl::StrCat(row.metric, ": ", Pair(a, b, task), ": ", test.status().message()));
    return std::nullopt;
  }
  row.test = *test;
  return row;
}

void ComparePairs(const RunTable& table, const NamedMetric& metric, RunComparison* comparison) {
  const bool higher = HigherIsBetter(metric.spec).value_or(true);
  std::vector<ComparedRuns> rows;
  for (const auto& [a, b] : PairsOf(table, comparison->baseline)) {
    for (const std::string& task : table.tasks) {
      std::optional<ComparedRuns> row = ComparePair(table, metric, a, b, task, comparison);
      if (row.has_value()) rows.push_back(*std::move(row));
    }
  }
  // Rows without a p-value are not tests and do not count as such.
  std::vector<size_t> tested;
  std::vector<double> p_values, wilcoxon;
  for (size_t i = 0; i < rows.size(); ++i) {
    wilcoxon.push_back(rows[i].test.wilcoxon_p_value);
    if (!rows[i].test.p_value.has_value()) continue;
    tested.push_back(i);
    p_values.push_back(*rows[i].test.p_value);
  }
  const std::vector<double> levels = HolmLevels(p_values, 1 - comparison->options.confidence);
  p_values = HolmAdjusted(p_values);
  wilcoxon = HolmAdjusted(wilcoxon);
  for (size_t t = 0; t < tested.size(); ++t) {
    ComparedRuns& row = rows[tested[t]];
    row.adjusted_p_value = p_values[t];
    const double width = HalfWidth(row.test, levels[t]);
    row.adjusted = AdjustedInterval{1 - levels[t], row.test.mean_difference - width, row.test.mean_difference + width};
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].adjusted_wilcoxon = wilcoxon[i];
    const bool detectable = OrOne(rows[i].adjusted_p_value) < 1 - comparison->options.confidence;
    const Verdict verdict = detectable ? rows[i].test.verdict : Verdict::kNoDetectableDifference;
    rows[i].is_too_few = rows[i].test.replicates < kFewestReplicates && rows[i].test.p_value.has_value() &&
                         rows[i].test.mean_difference != 0;
    rows[i].verdict = rows[i].is_too_few ? absl::StrCat("too few ", rows[i].test.splits > 1 ? "splits" : "seeds",
                                                        " to tell (", rows[i].test.replicates, "); take 5")
                      : verdict == Verdict::kNoDetectableDifference ? "no detectable difference"
                      : (verdict == Verdict::kALarger) == higher    ? rows[i].a + " is better"
                                                                    : rows[i].b + " is better";
    comparison->pairs.push_back(std::move(rows[i]));
  }
}

// The mean over splits of the mean over seeds.
double MeanOverSplits(const Runs& runs) {
  std::map<std::string, std::pair<double, int>> splits;
  for (const auto& [run, value] : runs) {
    splits[run.split].first += value;
    ++splits[run.split].second;
  }
  double sum = 0;
  for (const auto& [split, total] : splits) sum += total.first / total.second;
  return sum / static_cast<double>(splits.size());
}

void CompareAll(const RunTable& table, const NamedMetric& metric, RunComparison* comparison) {
  std::vector<std::string> blocks;
  std::map<std::string, std::vector<std::string>> levels;
  for (const std::string& task : table.tasks) {
    const auto block = table.block.find(task);
    const std::string& name = block == table.block.end() ? task : block->second;
    if (levels[name].empty()) blocks.push_back(name);
    levels[name].push_back(task);
  }
  if (table.methods.size() < 3 || blocks.size() < 2) return;
  std::vector<std::vector<double>> values;
  for (const std::string& block : blocks) {
    std::vector<double> row;
    for (const std::string& method : table.methods) {
      double sum = 0;
      size_t found = 0;
      for (const std::string& level : levels[block]) {
        const Runs* runs = RunsOf(table, metric.name, method, level);
        if (runs == nullptr) break;
        sum += MeanOverSplits(*runs);
        ++found;
      }
      if (found < levels[block].size()) break;
      row.push_back(sum / static_cast<double>(found));
    }
    if (row.size() == table.methods.size()) {
      values.push_back(std::move(row));
    } else {
      comparison->left_out.push_back(absl::StrCat(metric.name, ": task ", block, ": not every method has results"));
    }
  }
  const absl::StatusOr<FriedmanTest> test =
      CompareMethods(values, HigherIsBetter(metric.spec).value_or(true), 1 - comparison->options.confidence);
  if (!test.ok()) {
    comparison->left_out.push_back(absl::StrCat(metric.name, ": all methods: ", test.status().message()));
    return;
  }
  comparison->methods.push_back({metric.name, table.methods, static_cast<int>(values.size()), *test});
}

std::string AssumptionsOf(const RunComparison& comparison) {
  bool several_splits = false, one_split = false;
  for (const ComparedRuns& row : comparison.pairs) (row.test.splits > 1 ? several_splits : one_split) = true;
  std::string text = "assumes: ";
  if (several_splits) {
    absl::StrAppend(&text,
                    comparison.options.test_per_training > 0
                        ? absl::StrFormat("splits drawn from the same samples, %g test samples a training sample "
                                          "(Nadeau and Bengio)",
                                          comparison.options.test_per_training)
                        : "splits are independent draws (seeds within one need not be)");
  }
  if (one_split) {
    absl::StrAppend(&text, several_splits ? "; " : "", "with one split, seeds are independent draws, and the result ",
                    "is for that split only");
  }
  return absl::StrCat(text, "; mean differences are about normal",
                      comparison.methods.empty() ? "" : "; tasks are independent, levels of one task are one");
}

}  // namespace

absl::StatusOr<RunComparison> CompareRuns(const RunTable& table, const std::vector<std::string>& metrics,
                                          const PairedTestOptions& options, const std::string& baseline) {
  if (table.methods.size() < 2) return absl::InvalidArgumentError("there is one method only");
  RunComparison comparison;
  comparison.options = options;
  if (!baseline.empty()) {
    OPENSET_ASSIGN_OR_RETURN(comparison.baseline, RowOf(table, baseline));
  }
  for (const std::string& metric : metrics.empty() ? table.metrics : metrics) {
    OPENSET_ASSIGN_OR_RETURN(MetricSpec spec, SpecOf(metric));
    if (!absl::c_linear_search(table.metrics, metric)) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are no results of ", metric, ", only of ", absl::StrJoin(table.metrics, ", ")));
    }
    const NamedMetric named{metric, std::move(spec)};
    ComparePairs(table, named, &comparison);
    CompareAll(table, named, &comparison);
  }
  comparison.assumptions = AssumptionsOf(comparison);
  return comparison;
}

}  // namespace openset
