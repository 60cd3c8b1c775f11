#include "eval/report/run_comparison.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/metric.pb.h"
#include "eval/statistics/intervals.h"
#include "eval/statistics/power.h"

namespace openset {
namespace {

using Runs = std::map<Run, double>;

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

// "a, b, c"; of more than three "100 WHAT (a, b, c, ...)".
std::string Some(const std::vector<std::string>& names, const char* what) {
  constexpr size_t kMostNamed = 3;
  if (names.size() <= kMostNamed) return absl::StrJoin(names, ", ");
  return absl::StrCat(names.size(), " ", what, " (", absl::StrJoin(names.begin(), names.begin() + kMostNamed, ", "),
                      ", ...)");
}

// What is left out, and why: few lines, however many pairs, tasks and metrics have the same reason.
class LeftOut {
 public:
  void Add(const std::string& what, const std::string& why) { Of(why, &of_metric_).push_back(what); }

  // Ends a metric's entries. `things`: what they are, in the plural.
  void EndMetric(const std::string& metric, const char* things) {
    for (const auto& [why, what] : of_metric_) {
      Of(absl::StrCat(Some(what, things), ": ", why), &lines_).push_back(metric);
    }
    of_metric_.clear();
  }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const auto& [line, metrics] : lines_) lines.push_back(absl::StrCat(Some(metrics, "metrics"), ": ", line));
    return lines;
  }

 private:
  using Reasons = std::vector<std::pair<std::string, std::vector<std::string>>>;  // in order of appearance

  static std::vector<std::string>& Of(const std::string& why, Reasons* reasons) {
    auto found = absl::c_find_if(*reasons, [&](const auto& reason) { return reason.first == why; });
    if (found == reasons->end()) found = reasons->insert(found, {why, {}});
    return found->second;
  }

  Reasons of_metric_, lines_;
};

// Splits of one draw of classes are one split in tests.
const std::string& DrawOf(const Run& run) { return run.draw.empty() ? run.split : run.draw; }

// For the interval of confidence 1 - level.
double HalfWidth(const PairedTest& test, double level) {
  return test.standard_error > 0 ? StudentTTwoSidedQuantile(level, test.replicates - 1) * test.standard_error : 0;
}

// `tests`: the number of tests, over which Holm's method corrects.
ComparedRuns::Power PowerOf(const ComparedRuns& row, double detectable, size_t tests, double alpha, double shared) {
  const PairedTest& test = row.test;
  const double deviation = test.standard_error / std::sqrt(1.0 / test.replicates + shared);
  return {
      detectable,
      ReplicatesToDetect(1 / row.display.factor / deviation, alpha / static_cast<double>(tests), shared),
      *DetectableDifferences({test}, alpha)[0],
  };
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
  Display display;
  bool may_be_negative = false;
};

absl::StatusOr<NamedMetric> MetricOf(const RunTable& table, const std::string& name) {
  const auto of_report = table.display.find(name);
  if (of_report != table.display.end()) return NamedMetric{name, of_report->second, /*may_be_negative=*/true};
  OPENSET_ASSIGN_OR_RETURN(const MetricSpec spec, SpecOf(name));
  return NamedMetric{name, DisplayOf(spec), spec.has_youden_macro() || spec.has_youden_micro()};
}

// The test of two methods on one task; nothing if there are no runs, or too few for a test.
std::optional<ComparedRuns> ComparePair(const RunTable& table, const NamedMetric& metric, const std::string& a,
                                        const std::string& b, const std::string& task, const PairedTestOptions& options,
                                        LeftOut* left_out) {
  ComparedRuns row{metric.name, task, a, b, metric.display};
  const Runs* runs_a = RunsOf(table, row.metric, a, task);
  const Runs* runs_b = RunsOf(table, row.metric, b, task);
  if (runs_a == nullptr && runs_b == nullptr) return std::nullopt;
  if (runs_a == nullptr || runs_b == nullptr) {
    left_out->Add(Pair(a, b, task), "only one of the two has results");
    return std::nullopt;
  }
  std::vector<double> values_a, values_b;
  std::vector<int> split;
  std::map<std::string, int> split_number;
  for (const auto& [run, value] : *runs_a) {
    const auto other = runs_b->find(run);
    if (other == runs_b->end()) continue;
    values_a.push_back(value);
    values_b.push_back(other->second);
    split.push_back(split_number.emplace(DrawOf(run), static_cast<int>(split_number.size())).first->second);
  }
  row.unpaired = static_cast<int>(runs_a->size() + runs_b->size() - 2 * values_a.size());
  if (values_a.size() < 2) {
    left_out->Add(Pair(a, b, task), values_a.empty() ? "they have no run (split and seed) in common"
                                                     : "two runs are needed, and they have one in common");
    return std::nullopt;
  }
  const absl::StatusOr<PairedTest> test = ComparePairedRuns(values_a, values_b, split, options);
  if (!test.ok()) {
    left_out->Add(Pair(a, b, task), std::string(test.status().message()));
    return std::nullopt;
  }
  row.test = *test;
  row.is_tested = row.test.p_value.has_value() && row.test.replicates >= kFewestReplicates;
  return row;
}

std::string VerdictOn(const ComparedRuns& row, bool higher, double confidence) {
  const std::string replicates = row.test.splits > 1 ? " splits" : " seeds";
  if (row.test.differences == Differences::kZero) return "equal in every run";
  if (row.test.replicates < kFewestReplicates) {
    return absl::StrCat("not tested: fewer than ", kFewestReplicates, replicates, " (", row.test.replicates, ")");
  }
  if (row.test.differences == Differences::kSame) {
    return absl::StrCat("not tested: same difference in ", row.test.replicates, replicates);
  }
  if (*row.adjusted_p_value >= 1 - confidence || row.test.verdict == Verdict::kNoDetectableDifference) {
    return "no detectable difference";
  }
  return absl::StrCat((row.test.verdict == Verdict::kALarger) == higher ? row.a : row.b, " is better");
}

void ComparePairs(const RunTable& table, const NamedMetric& metric, RunComparison* comparison, LeftOut* left_out) {
  const bool higher = metric.display.higher_is_better.value_or(true);
  std::vector<ComparedRuns> rows;
  for (const auto& [a, b] : PairsOf(table, comparison->baseline)) {
    for (const std::string& task : table.tasks) {
      std::optional<ComparedRuns> row = ComparePair(table, metric, a, b, task, comparison->options, left_out);
      if (row.has_value()) rows.push_back(*std::move(row));
    }
  }
  int unpaired = 0;
  for (const ComparedRuns& row : rows) unpaired += row.unpaired;
  const std::string why = absl::StrCat(unpaired, unpaired == 1 ? " run" : " runs",
                                       " without a partner (the same split and seed of the other method)");
  for (const ComparedRuns& row : rows) {
    if (row.unpaired > 0) left_out->Add(Pair(row.a, row.b, row.task), why);
  }
  left_out->EndMetric(metric.name, "pairs of methods and tasks");
  std::vector<size_t> tested;
  std::vector<double> p_values, wilcoxon;
  std::vector<PairedTest> tests;
  for (size_t i = 0; i < rows.size(); ++i) {
    wilcoxon.push_back(rows[i].test.wilcoxon_p_value);
    if (!rows[i].is_tested) continue;
    tested.push_back(i);
    p_values.push_back(*rows[i].test.p_value);
    tests.push_back(rows[i].test);
  }
  const double alpha = 1 - comparison->options.confidence;
  const std::vector<double> levels = HolmLevels(p_values, alpha);
  const std::vector<std::optional<double>> detectable = DetectableDifferences(tests, alpha);
  p_values = HolmAdjusted(p_values);
  wilcoxon = HolmAdjusted(wilcoxon);
  for (size_t t = 0; t < tested.size(); ++t) {
    ComparedRuns& row = rows[tested[t]];
    row.adjusted_p_value = p_values[t];
    const double width = HalfWidth(row.test, levels[t]);
    row.adjusted = AdjustedInterval{1 - levels[t], row.test.mean_difference - width, row.test.mean_difference + width};
    if (!detectable[t].has_value()) continue;
    row.power = PowerOf(row, *detectable[t], tests.size(), alpha, comparison->options.test_per_training);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].adjusted_wilcoxon = wilcoxon[i];
    rows[i].verdict = VerdictOn(rows[i], higher, comparison->options.confidence);
    comparison->pairs.push_back(std::move(rows[i]));
  }
}

// The mean over splits of the mean over seeds.
double MeanOverSplits(const Runs& runs) {
  std::map<std::string, std::pair<double, int>> splits;
  for (const auto& [run, value] : runs) {
    auto& [sum, n] = splits[DrawOf(run)];
    sum += value;
    ++n;
  }
  double sum = 0;
  for (const auto& [split, total] : splits) sum += total.first / total.second;
  return sum / static_cast<double>(splits.size());
}

void CompareAll(const RunTable& table, const NamedMetric& metric, RunComparison* comparison, LeftOut* left_out) {
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
      left_out->Add(absl::StrCat("task ", block), "not every method has results");
    }
  }
  const absl::StatusOr<FriedmanTest> test =
      CompareMethods(values, metric.display.higher_is_better.value_or(true), 1 - comparison->options.confidence);
  if (!test.ok()) {
    left_out->Add("all methods", std::string(test.status().message()));
  } else {
    comparison->methods.push_back({metric.name, table.methods, static_cast<int>(values.size()), *test});
  }
  left_out->EndMetric(metric.name, "tasks");
}

std::string AssumptionsOf(const RunComparison& comparison) {
  bool several_splits = false, one_split = false;
  for (const ComparedRuns& row : comparison.pairs) (row.test.splits > 1 ? several_splits : one_split) = true;
  std::vector<std::string> parts;
  if (several_splits) {
    parts.push_back(comparison.options.test_per_training > 0
                        ? absl::StrFormat("splits drawn from the same samples, %g test samples a training sample "
                                          "(Nadeau and Bengio)",
                                          comparison.options.test_per_training)
                        : "splits are independent draws (seeds within one need not be)");
  }
  if (one_split) parts.push_back("with one split, seeds are independent draws, and the result is for that split only");
  if (!parts.empty()) parts.push_back("mean differences are about normal");
  if (!comparison.methods.empty()) parts.push_back("tasks are independent, levels of one task are one");
  return parts.empty() ? "" : absl::StrCat("assumes: ", absl::StrJoin(parts, "; "));
}

// `all`: all metrics of the table were asked for.
std::vector<std::string> HintsOn(const RunTable& table, bool all) {
  std::vector<std::string> hints;
  if (all && !table.ignored.empty()) {
    hints.push_back(
        absl::StrCat("ignored, because they are neither metrics nor name a run: ", absl::StrJoin(table.ignored, ", ")));
  }
  if (!table.empty.empty()) {
    hints.push_back(absl::StrCat("without a value of any metric: ", Some(table.empty, "lines")));
  }
  std::map<std::string, std::string> seen;  // by the name in lower case
  for (const std::string& method : table.methods) {
    const auto [other, is_new] = seen.emplace(absl::AsciiStrToLower(method), method);
    if (!is_new) {
      hints.push_back(absl::StrCat("the methods '", other->second, "' and '", method,
                                   "' differ only in case; if they are one, give them one name"));
    }
  }
  return hints;
}

// Refuses values that can't be shares, as tables of percent have.
absl::Status CheckShares(const RunTable& table, const NamedMetric& metric) {
  constexpr double kRounding = 1e-6;
  const Display& display = metric.display;
  if (display.value_unit != "share") return absl::OkStatus();
  const double least = metric.may_be_negative ? -1 : 0;
  int64_t outside = 0, all = 0;
  std::string first;
  for (const auto& [method, tasks] : table.value.at(metric.name)) {
    for (const auto& [task, runs] : tasks) {
      for (const auto& [run, value] : runs) {
        ++all;
        if (value >= least - kRounding && value <= 1 + kRounding) continue;
        if (outside++ == 0) {
          first = absl::StrCat(value, " for ", method, task.empty() ? "" : absl::StrCat(" on ", task),
                               run.split.empty() ? "" : absl::StrCat(", split ", run.split),
                               run.seed.empty() ? "" : absl::StrCat(", seed ", run.seed));
        }
      }
    }
  }
  if (outside == 0) return absl::OkStatus();
  const std::string shown = display.factor == 1000 ? "values x 1000, as tables show them" : "percent";
  return absl::InvalidArgumentError(absl::StrCat(metric.name, " is a share, so it lies in ", least, " .. 1, and ",
                                                 outside, " of ", all, " values don't: ", first, "; are these ", shown,
                                                 "? Divide the column by ", display.factor));
}

}  // namespace

absl::StatusOr<RunComparison> CompareRuns(const RunTable& table, const std::vector<std::string>& metrics,
                                          const PairedTestOptions& options, const std::string& baseline) {
  if (table.methods.size() < 2) return absl::InvalidArgumentError("there is one method only");
  RunComparison comparison;
  LeftOut left_out;
  comparison.options = options;
  if (!baseline.empty()) {
    OPENSET_ASSIGN_OR_RETURN(comparison.baseline, RowOf(table, baseline));
  }
  for (const std::string& asked : metrics.empty() ? table.metrics : metrics) {
    const std::string metric = ResolveSynonym(asked, table.metrics).value_or(asked);
    OPENSET_ASSIGN_OR_RETURN(const NamedMetric named, MetricOf(table, metric));
    if (!absl::c_linear_search(table.metrics, metric)) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are no results of ", metric, ", only of ", absl::StrJoin(table.metrics, ", ")));
    }
    OPENSET_RETURN_IF_ERROR(CheckShares(table, named));
    ComparePairs(table, named, &comparison, &left_out);
    CompareAll(table, named, &comparison, &left_out);
  }
  comparison.left_out = left_out.Lines();
  if (comparison.pairs.empty() && comparison.methods.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("nothing can be compared: ", absl::StrJoin(comparison.left_out, "; ")));
  }
  comparison.hints = HintsOn(table, metrics.empty());
  comparison.assumptions = AssumptionsOf(comparison);
  return comparison;
}

}  // namespace openset
