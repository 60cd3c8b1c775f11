#include "eval/report/run_comparison.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "core/table.h"
#include "eval/metrics/make_metric.h"
#include "eval/metrics/metric.pb.h"
#include "eval/statistics/distributions.h"
#include "eval/statistics/verdict.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

using Runs = std::map<Run, double>;

// A difference is undetectable where there is nothing to test it with.
double OrOne(const std::optional<double>& p_value) { return p_value.value_or(1); }

// A metric by name.
absl::StatusOr<MetricSpec> SpecOf(const std::string& name) {
  const google::protobuf::OneofDescriptor* kind = MetricSpec::descriptor()->FindOneofByName("kind");
  std::vector<std::string> known;
  for (int i = 0; i < kind->field_count(); ++i) {
    known.push_back(kind->field(i)->name());
    if (known.back() != name) continue;
    MetricSpec spec;
    MetricSpec::GetReflection()->MutableMessage(&spec, kind->field(i));
    return spec;
  }
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

// Of the interval of confidence 1 - level.
double HalfWidth(const PairedTest& test, double level) {
  return test.standard_error > 0 ? StudentTTwoSidedQuantile(level, test.replicates - 1) * test.standard_error : 0;
}

void ComparePairs(const RunTable& table, const MetricSpec& spec, RunComparison* comparison) {
  const std::string metric = MetricName(spec);
  const bool higher = HigherIsBetter(spec).value_or(true);
  std::vector<ComparedRuns> rows;
  for (size_t a = 0; a < table.methods.size(); ++a) {
    for (size_t b = a + 1; b < table.methods.size(); ++b) {
      for (const std::string& task : table.tasks) {
        ComparedRuns row{metric, task, table.methods[a], table.methods[b], DisplayOf(spec)};
        const Runs* runs_a = RunsOf(table, metric, row.a, task);
        const Runs* runs_b = RunsOf(table, metric, row.b, task);
        if (runs_a == nullptr || runs_b == nullptr) continue;
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
          comparison->left_out.push_back(
              absl::StrCat(metric, ": ", Pair(row.a, row.b, task), ": ", test.status().message()));
          continue;
        }
        row.test = *test;
        rows.push_back(std::move(row));
      }
    }
  }
  std::vector<double> p_values, wilcoxon;
  for (const ComparedRuns& row : rows) {
    p_values.push_back(OrOne(row.test.p_value));
    wilcoxon.push_back(row.test.wilcoxon_p_value);
  }
  const std::vector<double> levels = HolmLevels(p_values, 1 - comparison->options.confidence);
  p_values = HolmAdjusted(p_values);
  wilcoxon = HolmAdjusted(wilcoxon);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].test.p_value.has_value()) {
      rows[i].adjusted_p_value = p_values[i];
      const double width = HalfWidth(rows[i].test, levels[i]);
      const double mean = rows[i].test.mean_difference;
      rows[i].adjusted = AdjustedInterval{1 - levels[i], mean - width, mean + width};
    }
    rows[i].adjusted_wilcoxon = wilcoxon[i];
    const bool detectable = p_values[i] < 1 - comparison->options.confidence;
    const Verdict verdict = detectable ? rows[i].test.verdict : Verdict::kNoDetectableDifference;
    rows[i].verdict = verdict == Verdict::kNoDetectableDifference ? "no detectable difference"
                      : (verdict == Verdict::kALarger) == higher  ? rows[i].a + " is better"
                                                                  : rows[i].b + " is better";
    comparison->pairs.push_back(std::move(rows[i]));
  }
}

// Mean over the splits of the means over their seeds.
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

void CompareAll(const RunTable& table, const MetricSpec& spec, RunComparison* comparison) {
  std::vector<std::string> blocks;
  std::map<std::string, std::vector<std::string>> levels;
  for (const std::string& task : table.tasks) {
    const auto block = table.block.find(task);
    const std::string& name = block == table.block.end() ? task : block->second;
    if (levels[name].empty()) blocks.push_back(name);
    levels[name].push_back(task);
  }
  if (table.methods.size() < 3 || blocks.size() < 2) return;
  const std::string metric = MetricName(spec);
  std::vector<std::vector<double>> values;
  for (const std::string& block : blocks) {
    std::vector<double> row;
    for (const std::string& method : table.methods) {
      double sum = 0;
      size_t found = 0;
      for (const std::string& level : levels[block]) {
        const Runs* runs = RunsOf(table, metric, method, level);
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
      comparison->left_out.push_back(absl::StrCat(metric, ": task ", block, ": not every method has results"));
    }
  }
  const absl::StatusOr<FriedmanTest> test =
      CompareMethods(values, HigherIsBetter(spec).value_or(true), 1 - comparison->options.confidence);
  if (!test.ok()) {
    comparison->left_out.push_back(absl::StrCat(metric, ": all methods: ", test.status().message()));
    return;
  }
  comparison->methods.push_back({metric, table.methods, static_cast<int>(values.size()), *test});
}

// The ends of the intervals; none where there is no variance to make one of.
std::optional<double> LowOf(const ComparedRuns& row) {
  return row.test.p_value.has_value() ? std::optional<double>(row.test.low) : std::nullopt;
}
std::optional<double> HighOf(const ComparedRuns& row) {
  return row.test.p_value.has_value() ? std::optional<double>(row.test.high) : std::nullopt;
}
std::optional<double> AdjustedLowOf(const ComparedRuns& row) {
  return row.adjusted.has_value() ? std::optional<double>(row.adjusted->low) : std::nullopt;
}
std::optional<double> AdjustedHighOf(const ComparedRuns& row) {
  return row.adjusted.has_value() ? std::optional<double>(row.adjusted->high) : std::nullopt;
}

// Whether a metric has several tests, so that Holm's levels are others than that of each alone.
bool HasSeveralTests(const RunComparison& comparison) {
  std::set<std::string> metrics;
  for (const ComparedRuns& row : comparison.pairs) {
    if (!metrics.insert(row.metric).second) return true;
  }
  return false;
}

std::string FormatCsv(const RunComparison& comparison) {
  Table table{{"metric",          "task",          "a",    "b",     "runs",     "splits",    "mean_difference",
               "cohen_dz",        "rank_biserial", "low",  "high",  "p",        "p_holm",    "wilcoxon_p",
               "wilcoxon_p_holm", "verdict",       "unit", "label", "low_holm", "high_holm", "confidence_holm"},
              {},
              4};
  const auto full = [](const std::optional<double>& value) { return value ? FullPrecision(*value) : ""; };
  for (const ComparedRuns& row : comparison.pairs) {
    const PairedTest& test = row.test;
    table.rows.push_back({row.metric,
                          row.task,
                          row.a,
                          row.b,
                          absl::StrCat(test.runs),
                          absl::StrCat(test.splits),
                          FullPrecision(test.mean_difference),
                          FullPrecision(test.cohen_dz),
                          FullPrecision(test.rank_biserial),
                          full(LowOf(row)),
                          full(HighOf(row)),
                          full(test.p_value),
                          full(row.adjusted_p_value),
                          FullPrecision(test.wilcoxon_p_value),
                          FullPrecision(row.adjusted_wilcoxon),
                          row.verdict,
                          row.display.value_unit,
                          row.display.label,
                          full(AdjustedLowOf(row)),
                          full(AdjustedHighOf(row)),
                          row.adjusted ? FullPrecision(row.adjusted->confidence) : ""});
  }
  return ToCsv(table);
}

nlohmann::ordered_json Number(std::optional<double> number) {
  if (!number.has_value()) return nullptr;
  const double value = *number;
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(absl::StrFormat("%g", value));
}

std::string FormatJson(const RunComparison& comparison) {
  nlohmann::ordered_json json;
  json["confidence"] = comparison.options.confidence;
  json["assumptions"] = comparison.assumptions;
  json["pairs"] = nlohmann::ordered_json::array();
  for (const ComparedRuns& row : comparison.pairs) {
    json["pairs"].push_back(
        {{"metric", row.metric},
         {"task", row.task},
         {"a", row.a},
         {"b", row.b},
         {"runs", row.test.runs},
         {"splits", row.test.splits},
         {"mean_difference", row.test.mean_difference},
         {"cohen_dz", Number(row.test.cohen_dz)},
         {"rank_biserial", row.test.rank_biserial},
         {"low", Number(LowOf(row))},
         {"high", Number(HighOf(row))},
         {"p", Number(row.test.p_value)},
         {"p_holm", Number(row.adjusted_p_value)},
         {"low_holm", Number(AdjustedLowOf(row))},
         {"high_holm", Number(AdjustedHighOf(row))},
         {"confidence_holm", row.adjusted ? Number(row.adjusted->confidence) : Number(std::nullopt)},
         {"wilcoxon_p", row.test.wilcoxon_p_value},
         {"wilcoxon_p_holm", row.adjusted_wilcoxon},
         {"verdict", row.verdict},
         {"unit", row.display.value_unit},
         {"label", row.display.label}});
  }
  json["all_methods"] = nlohmann::ordered_json::array();
  for (const ComparedMethods& all : comparison.methods) {
    nlohmann::ordered_json entry = {{"metric", all.metric},
                                    {"tasks", all.tasks},
                                    {"methods", all.methods},
                                    {"mean_rank", all.test.mean_rank},
                                    {"kendall_w", all.test.kendall_w},
                                    {"friedman_chi_squared", all.test.chi_squared},
                                    {"friedman_p", all.test.chi_squared_p_value},
                                    {"iman_davenport", Number(all.test.iman_davenport)},
                                    {"iman_davenport_p", all.test.iman_davenport_p_value},
                                    {"exact_p", Number(all.test.exact_p_value)},
                                    {"p", all.test.p_value},
                                    {"rejected", all.test.rejected}};
    if (all.test.rejected) {
      entry["critical_difference"] = all.test.critical_difference;
      entry["nemenyi_p"] = all.test.nemenyi_p_value;
    }
    json["all_methods"].push_back(std::move(entry));
  }
  json["left_out"] = comparison.left_out;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

DocumentSection PairSection(const RunComparison& comparison) {
  const bool several = HasSeveralTests(comparison);
  Table table{{"metric", "task", "a - b", "runs", "splits", "mean diff.", "low", "high"}, {}, 3};
  if (several) table.header.insert(table.header.end(), {"low (Holm)", "high (Holm)"});
  table.header.insert(table.header.end(),
                      {"unit", "d_z", "rank-bis.", several ? "p (Holm)" : "p", "p (Wilcoxon)", "verdict"});
  for (const ComparedRuns& row : comparison.pairs) {
    const auto shown = [&](std::optional<double> value) { return value ? Shown(*value, row.display) : "-"; };
    std::vector<std::string> cells = {row.display.label,
                                      row.task,
                                      absl::StrCat(row.a, " - ", row.b),
                                      absl::StrCat(row.test.runs),
                                      absl::StrCat(row.test.splits),
                                      shown(row.test.mean_difference),
                                      shown(LowOf(row)),
                                      shown(HighOf(row))};
    if (several) cells.insert(cells.end(), {shown(AdjustedLowOf(row)), shown(AdjustedHighOf(row))});
    cells.insert(cells.end(), {row.display.unit, absl::StrFormat("%.2f", row.test.cohen_dz),
                               absl::StrFormat("%.2f", row.test.rank_biserial),
                               row.adjusted_p_value ? ShowPValue(*row.adjusted_p_value) : "-",
                               ShowPValue(row.adjusted_wilcoxon), row.verdict});
    table.rows.push_back(std::move(cells));
  }
  std::string title =
      absl::StrFormat("paired by run, clustered by split; low, high: %g %% interval of the mean difference",
                      100 * comparison.options.confidence);
  if (several) absl::StrAppend(&title, " of this row alone; ", kHolmColumns, "; p by Holm, over the tests of a metric");
  return {std::move(title), std::move(table)};
}

DocumentSection MethodSection(const ComparedMethods& all, double confidence) {
  Table table{{"method", "mean rank", "not told apart from"}, {}, 1};
  for (size_t place = 0; place < all.test.by_rank.size(); ++place) {
    const int method = all.test.by_rank[place];
    std::vector<std::string> same;
    for (size_t other = 0; other < all.methods.size(); ++other) {
      if (other != method && (!all.test.rejected || std::abs(all.test.mean_rank[other] - all.test.mean_rank[method]) <
                                                        all.test.critical_difference)) {
        same.push_back(all.methods[other]);
      }
    }
    table.rows.push_back({all.methods[method], absl::StrFormat("%.2f", all.test.mean_rank[method]),
                          same.empty() ? "-" : absl::StrJoin(same, ", ")});
  }
  const std::string verdict = all.test.rejected
                                  ? absl::StrFormat("critical difference of mean ranks %.2f (Nemenyi, %g %%)",
                                                    all.test.critical_difference, 100 * (1 - confidence))
                                  : "no detectable difference among the methods";
  return {absl::StrFormat("%s over %d tasks: Kendall's W %.2f, p %s (%s; Friedman's chi-squared: %s); %s", all.metric,
                          all.tasks, all.test.kendall_w, ShowPValue(all.test.p_value),
                          all.test.exact_p_value ? "exact" : "Iman and Davenport",
                          ShowPValue(all.test.chi_squared_p_value), verdict),
          std::move(table)};
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
    absl::StrAppend(&text, several_splits ? "; " : "", "with one split seeds are independent draws, and it speaks of ",
                    "that split only");
  }
  return absl::StrCat(text, "; mean differences are about normal",
                      comparison.methods.empty() ? "" : "; tasks are independent, levels of one task are one");
}

}  // namespace

absl::StatusOr<RunComparison> CompareRuns(const RunTable& table, const std::vector<std::string>& metrics,
                                          const PairedTestOptions& options) {
  if (table.methods.size() < 2) return absl::InvalidArgumentError("there is one method only");
  RunComparison comparison;
  comparison.options = options;
  for (const std::string& metric : metrics.empty() ? table.metrics : metrics) {
    OPENSET_ASSIGN_OR_RETURN(const MetricSpec spec, SpecOf(metric));
    if (!absl::c_linear_search(table.metrics, metric)) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are no results of ", metric, ", only of ", absl::StrJoin(table.metrics, ", ")));
    }
    ComparePairs(table, spec, &comparison);
    CompareAll(table, spec, &comparison);
  }
  comparison.assumptions = AssumptionsOf(comparison);
  return comparison;
}

std::string FormatRunComparison(const RunComparison& comparison, TextFormat format) {
  if (format == TextFormat::kCsv) return FormatCsv(comparison);
  if (format == TextFormat::kJson) return FormatJson(comparison);
  Document document;
  document.above = comparison.notes;
  document.above.push_back(comparison.assumptions);
  for (const ComparedMethods& all : comparison.methods) {
    document.sections.push_back(MethodSection(all, comparison.options.confidence));
  }
  if (!comparison.pairs.empty()) document.sections.push_back(PairSection(comparison));
  for (const std::string& line : comparison.left_out) document.below.push_back("left out: " + line);
  return FormatDocument(document, format);
}

}  // namespace openset
