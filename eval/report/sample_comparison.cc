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
  row.standard_error = difference.difference.standard_error;
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
      // As DetectableDifferences() has for t tests.
      const double level = alpha / static_cast<double>(members.size());
      row.detectable = (NormalQuantile(kPower) - NormalQuantile(level / 2)) * row.standard_error;
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
  if (words.is_detected || !(row.detectable > 0)) return text;
  absl::StrAppend(&text, " With these samples, differences below about ", AmountText(row.detectable, row.display),
                  " can't be detected");
  const double detectable = row.detectable * row.display.factor, times = detectable * detectable;
  if (times > 1) {
    absl::StrAppend(&text, "; ", absl::StrFormat(times < 10 ? "%.1f" : "%.0f", times),
                    " times as many samples would be needed for ", OneText(row.display));
  }
  return text + ".";
}

std::string FormatCsv(const SampleComparison& comparison) {
  const auto full = [](std::optional<double> value) { return value ? FullPrecision(*value) : ""; };
  Table table{{"metric", "a", "b", "test", "difference", "low", "high", "value_a", "value_b", "p", "p_holm", "verdict",
               "absent", "unit", "label", "low_holm", "high_holm", "confidence_holm", "detects"},
              {},
              4};
  for (const ComparedMetric& row : comparison.rows) {
    const bool there = row.difference.has_value();
    const auto number = [&](double value) { return there ? full(value) : ""; };
    table.rows.push_back({row.metric, row.a, row.b, row.test, full(row.difference), number(row.low), number(row.high),
                          full(row.value_a), full(row.value_b), number(row.p_value), number(row.adjusted_p_value),
                          row.verdict, row.absent_reason, row.display.value_unit, row.display.label,
                          number(row.adjusted.low), number(row.adjusted.high), number(row.adjusted.confidence),
                          number(row.detectable)});
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
      entry["detects"] = row.detectable;
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

std::string ShownIn(const Display& display, std::optional<double> value) {
  return value ? Shown(*value, display) : "-";
}

// All metrics of the only pair.
DocumentSection PairTable(const SampleComparison& comparison, const std::map<std::string, std::string>& in_cells) {
  Table table{{"metric", "difference", "low", "high", in_cells.at(comparison.names[0]),
               in_cells.at(comparison.names[1]), "test", "detects", "p", "verdict"},
              {},
              1};
  for (const ComparedMetric& row : comparison.rows) {
    if (!row.difference.has_value()) continue;
    const auto shown = [&](std::optional<double> value) { return ShownIn(row.display, value); };
    table.rows.push_back({LabelWithUnit(row.display), shown(row.difference), shown(row.low), shown(row.high),
                          shown(row.value_a), shown(row.value_b), row.test, shown(row.detectable),
                          ShowPValue(row.p_value), row.verdict});
  }
  return {"", std::move(table)};
}

// A metric of all pairs.
DocumentSection MetricTable(const SampleComparison& comparison, const std::string& metric,
                            const std::map<std::string, std::string>& in_cells, bool same_a, bool fit) {
  const auto name = [&](const std::string& method) { return in_cells.at(method); };
  const std::string a = name(comparison.rows[0].a);
  Table table{{same_a ? absl::StrCat(a, " - b") : "a - b", same_a ? "it is" : "a is", "difference", "low", "high",
               "low (Holm)", "high (Holm)", same_a ? a : "a", "b", "detects", "test", "p (Holm)"},
              {},
              2};
  std::string title;
  for (const ComparedMetric& row : comparison.rows) {
    if (row.metric != metric || !row.difference.has_value()) continue;
    title = LabelWithUnit(row.display);
    const auto shown = [&](std::optional<double> value) { return ShownIn(row.display, value); };
    table.rows.push_back({same_a ? name(row.b) : absl::StrCat(name(row.a), " - ", name(row.b)),
                          ShortVerdict(row.verdict, row.a, row.b), shown(row.difference), shown(row.low),
                          shown(row.high), shown(row.adjusted.low), shown(row.adjusted.high), shown(row.value_a),
                          shown(row.value_b), shown(row.detectable), row.test, ShowPValue(row.adjusted_p_value)});
  }
  if (fit) {
    const std::vector<std::string> dropped =
        DropToFit({"low", "high", "a", a, "b", "detects", "low (Holm)", "high (Holm)"}, kTextWidth, &table);
    if (!dropped.empty()) {
      absl::StrAppend(&title, "; left out for the width: ", absl::StrJoin(dropped, ", "), " (--format=csv has them)");
    }
  }
  return {std::move(title), std::move(table)};
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
  Document document;
  document.above = comparison.notes;
  const bool same_a =
      absl::c_all_of(comparison.rows, [&](const ComparedMetric& row) { return row.a == comparison.rows[0].a; });
  const std::map<std::string, std::string> in_cells = NamesForCells(comparison.names, same_a ? 1 : 2, &document.above);
  std::string title = absl::StrCat("low, high: ", comparison.interval);
  if (!one_pair) {
    absl::StrAppend(&title, " of this pair alone; ", kHolmColumns,
                    "; p (Holm): adjusted over the pairs of a metric and test");
  }
  document.above.push_back(absl::StrCat(title, "; detects: the smallest difference that a z test",
                                        one_pair ? "" : " at the first of Holm's levels", " finds in 4 of 5 studies"));
  std::vector<std::string> metrics;
  for (const ComparedMetric& row : comparison.rows) {
    const std::string of_row = " (" + row.test + ") of " + row.a + " and " + row.b + ": ";
    if (row.difference.has_value() && !absl::c_linear_search(metrics, row.metric)) metrics.push_back(row.metric);
    if (!row.difference.has_value()) {
      document.below.push_back(absl::StrCat("absent: ", row.display.label, of_row, row.absent_reason));
    } else if (!row.note.empty()) {
      document.below.push_back(absl::StrCat(row.display.label, of_row, row.note));
    }
  }
  if (one_pair) {
    document.sections.push_back(PairTable(comparison, in_cells));
  } else {
    for (const std::string& metric : metrics) {
      document.sections.push_back(MetricTable(comparison, metric, in_cells, same_a, format == TextFormat::kText));
    }
  }
  const std::vector<const ComparedMetric*> in_words = InWords(comparison);
  if (in_words.size() <= kMostSentences) {
    for (const ComparedMetric* row : in_words) document.below.push_back(SentenceOf(*row, comparison));
  } else {
    document.below.push_back("--format=sentence writes each comparison as a sentence");
  }
  return FormatDocument(document, format);
}

}  // namespace openset
