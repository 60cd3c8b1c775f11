#include "eval/report/sample_comparison.h"

#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/table.h"
#include "eval/metrics/metric.h"
#include "eval/report/comparison_words.h"
#include "eval/statistics/delong.h"
#include "eval/statistics/intervals.h"
#include "eval/statistics/paired_tests.h"
#include "eval/statistics/power.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

constexpr char kDeLong[] = "delong";

ComparedMetric RowOf(const MetricSpec& metric, const std::string& a, const std::string& b, const char* test) {
  ComparedMetric row;
  row.metric = MetricName(metric);
  row.display = DisplayOf(metric);
  row.a = a;
  row.b = b;
  row.test = test;
  return row;
}

ComparedMetric FromBootstrap(ComparedMetric row, const PairedDifference& difference) {
  row.value_a = difference.value_a;
  row.value_b = difference.value_b;
  row.difference = difference.difference.value;
  row.low = difference.difference.low;
  row.high = difference.difference.high;
  row.p_value = difference.p_value;
  row.adjusted = difference.adjusted;
  row.absent_reason = difference.difference.absent_reason;
  row.note = difference.difference.note;
  return row;
}

ComparedMetric FromDeLong(ComparedMetric row, const absl::StatusOr<DeLongComparison>& comparison) {
  if (!comparison.ok()) {
    row.absent_reason = std::string(comparison.status().message());
    return row;
  }
  row.value_a = comparison->value_a;
  row.value_b = comparison->value_b;
  row.difference = comparison->difference;
  row.low = comparison->low;
  row.high = comparison->high;
  row.p_value = comparison->p_value;
  row.standard_error = comparison->standard_error;
  return row;
}

void AdjustAndDecide(std::vector<ComparedMetric>* rows, double alpha) {
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> families;
  for (size_t i = 0; i < rows->size(); ++i) {
    if ((*rows)[i].difference.has_value()) families[{(*rows)[i].metric, (*rows)[i].test}].push_back(i);
  }
  for (const auto& [family, members] : families) {
    std::vector<double> p_values;
    for (const size_t i : members) p_values.push_back((*rows)[i].p_value);
    const std::vector<double> adjusted = HolmAdjusted(p_values);
    const std::vector<double> levels = HolmLevels(p_values, alpha);
    for (size_t k = 0; k < members.size(); ++k) {
      ComparedMetric& row = (*rows)[members[k]];
      row.adjusted_p_value = adjusted[k];
      if (row.test == kDeLong) {
        row.adjusted = {1 - alpha, row.low, row.high};
        if (members.size() > 1) {
          const double width = -NormalQuantile(levels[k] / 2) * row.standard_error;
          row.adjusted = {1 - levels[k], *row.difference - width, *row.difference + width};
        }
      }
      const Verdict verdict =
          members.size() > 1 && adjusted[k] >= alpha ? Verdict::kNoDetectableDifference : VerdictOf(row.low, row.high);
      if (verdict == Verdict::kNoDetectableDifference) {
        row.verdict = kNoDifference;
      } else if (!row.display.higher_is_better.has_value()) {
        row.verdict = absl::StrCat(verdict == Verdict::kALarger ? row.a : row.b, " is larger");
      } else {
        const bool a_is_better = (verdict == Verdict::kALarger) == *row.display.higher_is_better;
        row.verdict = absl::StrCat(a_is_better ? row.a : row.b, " is better");
      }
    }
  }
}

bool OnePair(const SampleComparison& comparison) {
  for (const ComparedMetric& row : comparison.rows) {
    if (row.a != comparison.rows[0].a || row.b != comparison.rows[0].b) return false;
  }
  return true;
}

// The rows for sentences: of each metric and pair one, by DeLong's test if there is one.
std::vector<const ComparedMetric*> InWords(const SampleComparison& comparison) {
  std::vector<const ComparedMetric*> rows;
  for (const ComparedMetric& row : comparison.rows) {
    if (!row.difference.has_value()) continue;
    const auto same = absl::c_find_if(rows, [&](const ComparedMetric* other) {
      return other->metric == row.metric && other->a == row.a && other->b == row.b;
    });
    if (same == rows.end()) {
      rows.push_back(&row);
    } else if (row.test == kDeLong) {
      *same = &row;
    }
  }
  return rows;
}

// A comparison as a paper says it, and what it could not have found.
std::string SentenceOf(const ComparedMetric& row, const SampleComparison& comparison) {
  ComparedInWords words;
  words.place = "On the same test samples";
  words.a = row.a;
  words.b = row.b;
  words.difference = *row.difference;
  words.low = row.low;
  words.high = row.high;
  words.confidence = comparison.confidence;
  words.p_value = row.adjusted_p_value;
  words.tests = static_cast<int>(absl::c_count_if(comparison.rows, [&](const ComparedMetric& other) {
    return other.difference.has_value() && other.metric == row.metric && other.test == row.test;
  }));
  words.is_detected = row.verdict != kNoDifference;
  words.test = row.test == kDeLong ? "DeLong's test" : "paired bootstrap";
  std::string text = ComparisonSentence(words, row.display);
  if (words.is_detected || !(row.standard_error > 0)) return text;
  // A z test at the first of Holm's levels, as DetectableDifferences() has for t tests.
  const double level = (1 - comparison.confidence) / words.tests;
  const double detectable = (NormalQuantile(kPower) - NormalQuantile(level / 2)) * row.standard_error;
  const double times = detectable * row.display.factor * detectable * row.display.factor;
  absl::StrAppend(&text, " With these samples, differences below about ", AmountText(detectable, row.display),
                  " can't be detected");
  if (times > 1) {
    absl::StrAppend(&text, absl::StrFormat("; %.2g times as many samples would be needed for ", times),
                    OneText(row.display));
  }
  return text + ".";
}

std::string FormatCsv(const SampleComparison& comparison) {
  const auto full = [](std::optional<double> value) { return value ? FullPrecision(*value) : ""; };
  Table table{{"metric", "a", "b", "test", "difference", "low", "high", "value_a", "value_b", "p", "p_holm", "verdict",
               "absent", "unit", "label", "low_holm", "high_holm", "confidence_holm"},
              {},
              4};
  for (const ComparedMetric& row : comparison.rows) {
    const bool there = row.difference.has_value();
    const auto number = [&](double value) { return there ? full(value) : ""; };
    table.rows.push_back({row.metric, row.a, row.b, row.test, full(row.difference), number(row.low), number(row.high),
                          full(row.value_a), full(row.value_b), number(row.p_value), number(row.adjusted_p_value),
                          row.verdict, row.absent_reason, row.display.value_unit, row.display.label,
                          number(row.adjusted.low), number(row.adjusted.high), number(row.adjusted.confidence)});
  }
  return ToCsv(table);
}

std::string FormatJson(const SampleComparison& comparison) {
  nlohmann::ordered_json json;
  json["comparisons"] = nlohmann::ordered_json::array();
  for (const ComparedMetric& row : comparison.rows) {
    nlohmann::ordered_json entry = {{"metric", row.metric}, {"a", row.a}, {"b", row.b}, {"test", row.test}};
    if (row.difference.has_value()) {
      entry["difference"] = *row.difference;
      entry["low"] = row.low;
      entry["high"] = row.high;
      if (row.value_a.has_value()) entry["value_a"] = *row.value_a;
      if (row.value_b.has_value()) entry["value_b"] = *row.value_b;
      entry["p"] = row.p_value;
      entry["p_holm"] = row.adjusted_p_value;
      entry["low_holm"] = row.adjusted.low;
      entry["high_holm"] = row.adjusted.high;
      entry["confidence_holm"] = row.adjusted.confidence;
      entry["verdict"] = row.verdict;
    } else {
      entry["absent"] = row.absent_reason;
    }
    entry["unit"] = row.display.value_unit;
    entry["label"] = row.display.label;
    json["comparisons"].push_back(std::move(entry));
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace

absl::StatusOr<SampleComparison> CompareOnSamples(const std::vector<MetricSpec>& metrics,
                                                  const std::vector<std::string>& names,
                                                  const std::vector<const RankedInput*>& methods,
                                                  const BootstrapOptions& options, std::optional<int> baseline,
                                                  bool prefer_delong) {
  SampleComparison comparison;
  comparison.names = names;
  comparison.confidence = options.confidence;
  const size_t clusters = ClustersOf(*methods[0]).size();
  // DeLong's test refuses clusters.
  const auto statistic_of = [&](const MetricSpec& metric) {
    return clusters == 0 ? PairStatisticOf(metric) : std::nullopt;
  };
  std::vector<MetricSpec> drawn;  // by the bootstrap
  for (const MetricSpec& metric : metrics) {
    if (!prefer_delong || !statistic_of(metric).has_value()) drawn.push_back(metric);
  }
  comparison.interval =
      drawn.empty()
          ? absl::StrFormat("%g %% interval of the difference (DeLong)", 100 * options.confidence)
          : absl::StrFormat("%g %% interval of the difference (%s, %d replicates%s, seed %d%s)",
                            100 * options.confidence, options.method == IntervalMethod::kBca ? "bca" : "percentile",
                            options.replicates, clusters > 0 ? absl::StrCat(" of ", clusters, " clusters") : "",
                            options.seed, clusters > 0 ? "" : "; DeLong");
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<MethodPair> pairs, PairedBootstrap(drawn, methods, options, baseline),
                           absl::StrJoin(names, " and "));
  for (const MethodPair& pair : pairs) {
    const std::string& a = names[pair.a];
    const std::string& b = names[pair.b];
    auto of_bootstrap = pair.metrics.begin();
    for (const MetricSpec& metric : metrics) {
      const std::optional<PairStatistic> statistic = statistic_of(metric);
      if (!prefer_delong || !statistic.has_value()) {
        comparison.rows.push_back(FromBootstrap(RowOf(metric, a, b, "bootstrap"), *of_bootstrap++));
      }
      if (statistic.has_value()) {
        comparison.rows.push_back(
            FromDeLong(RowOf(metric, a, b, kDeLong),
                       DeLongPaired(*methods[pair.a], *methods[pair.b], *statistic, options.confidence)));
      }
    }
  }
  AdjustAndDecide(&comparison.rows, 1 - options.confidence);
  return comparison;
}

std::string FormatSampleComparison(const SampleComparison& comparison, TextFormat format) {
  if (format == TextFormat::kCsv) return FormatCsv(comparison);
  if (format == TextFormat::kJson) return FormatJson(comparison);
  if (format == TextFormat::kSentence) {
    std::string text;
    for (const ComparedMetric* row : InWords(comparison)) absl::StrAppend(&text, SentenceOf(*row, comparison), "\n");
    return text;
  }
  const bool one_pair = OnePair(comparison);  // there is a row: at least two methods and a metric
  std::set<std::string> names;
  bool same_a = true;
  for (const ComparedMetric& row : comparison.rows) {
    names.insert({row.a, row.b});
    same_a = same_a && row.a == comparison.rows[0].a;
  }
  const std::string end = SharedEnd({names.begin(), names.end()});
  const auto name = [&](const std::string& method) { return method.substr(0, method.size() - end.size()); };
  Document document;
  document.above = comparison.notes;
  if (!end.empty()) document.above.push_back(absl::StrCat("all methods: ", end));
  const std::string a = name(comparison.rows[0].a);
  const std::string pair = same_a ? absl::StrCat(a, " - b") : "a - b", p = one_pair ? "p" : "p (Holm)";
  Table table{
      {"metric", "difference", "low", "high", same_a ? a : "a", one_pair ? name(comparison.rows[0].b) : "b", "test", p,
       one_pair ? "verdict"
       : same_a ? "it is"
                : "a is"},
      {},
      1};
  if (!one_pair) {
    table.header.insert(table.header.begin() + 1, pair);
    table.header.insert(table.header.begin() + 5, {"low (Holm)", "high (Holm)"});
  }
  table.left_columns = one_pair ? 1 : 2;
  for (const ComparedMetric& row : comparison.rows) {
    if (!row.difference.has_value()) {
      document.below.push_back(absl::StrCat("absent: ", row.display.label, " (", row.test, ") of ", row.a, " and ",
                                            row.b, ": ", row.absent_reason));
      continue;
    }
    if (!row.note.empty()) {
      document.below.push_back(
          absl::StrCat(row.display.label, " (", row.test, ") of ", row.a, " and ", row.b, ": ", row.note));
    }
    const auto shown = [&](double value) { return Shown(value, row.display); };
    std::vector<std::string> cells = {LabelWithUnit(row.display),
                                      shown(*row.difference),
                                      shown(row.low),
                                      shown(row.high),
                                      row.value_a ? shown(*row.value_a) : "-",
                                      row.value_b ? shown(*row.value_b) : "-",
                                      row.test,
                                      ShowPValue(one_pair ? row.p_value : row.adjusted_p_value),
                                      one_pair ? row.verdict : ShortVerdict(row.verdict, row.a, row.b)};
    if (!one_pair) {
      cells.insert(cells.begin() + 1, same_a ? name(row.b) : absl::StrCat(name(row.a), " - ", name(row.b)));
      cells.insert(cells.begin() + 5, {shown(row.adjusted.low), shown(row.adjusted.high)});
    }
    table.rows.push_back(std::move(cells));
  }
  std::string title = absl::StrCat("low, high: ", comparison.interval);
  if (!one_pair) {
    absl::StrAppend(&title, " of this pair alone; ", kHolmColumns,
                    "; p (Holm): adjusted over the pairs of a metric and test");
  }
  if (format == TextFormat::kText) {
    const std::vector<std::string> dropped = DropToFit({"a", a, "b", "low", "high"}, kTextWidth, &table);
    if (!dropped.empty()) {
      absl::StrAppend(&title, "; left out for the width: ", absl::StrJoin(dropped, ", "), " (--format=csv has them)");
    }
  }
  document.sections = {{std::move(title), std::move(table)}};
  const std::vector<const ComparedMetric*> in_words = InWords(comparison);
  if (in_words.size() <= kMostSentences) {
    for (const ComparedMetric* row : in_words) document.below.push_back(SentenceOf(*row, comparison));
  } else {
    document.below.push_back("--format=sentence writes each comparison as a sentence");
  }
  return FormatDocument(document, format);
}

}  // namespace openset
