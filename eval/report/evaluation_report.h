// The result of `openset eval`, and its text in each format. A pure function of values.
#ifndef OPENSET_EVAL_REPORT_EVALUATION_REPORT_H_
#define OPENSET_EVAL_REPORT_EVALUATION_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/text/table.h"
#include "eval/metrics/aurc.h"
#include "eval/metrics/display.h"
#include "eval/metrics/metric_value.h"
#include "eval/report/document.h"
#include "nlohmann/json.hpp"

namespace openset {

struct ReportedMetric {
  std::string name;
  Display display;
  std::optional<double> value;  // as in JSON and CSV
  std::string absent_reason;
  std::optional<double> low;  // the lower end of the interval
  std::optional<double> high;
  std::string remark;
};

// The metrics of the known samples with some of the unknown samples, in the order of the report's metrics.
struct ReportedGroup {
  std::string name;
  int64_t samples = 0;  // the unknown ones of a group, the known ones of a known set
  std::vector<MetricValue> values;
  // As long as `values`, or empty: low and high.
  std::vector<std::optional<std::pair<double, double>>> intervals;
};

// A source of errors in the pool of all samples.
struct ReportedSource {
  std::string name;
  AurcPart part;
};

struct EvaluationReport {
  std::vector<std::string> notes;  // lines above the table: the input, the score
  int64_t num_known = 0;
  int64_t num_unknown = 0;
  int32_t num_classes = 0;
  std::string interval;  // "95 % interval (bca, 10000 replicates)"; empty without intervals
  std::vector<ReportedMetric> metrics;
  std::vector<ReportedGroup> groups;  // the groups, their means and the pool; empty without groups
  // Full-spectrum: each set of known samples against all unknown ones.
  std::vector<ReportedGroup> known_sets;
  std::vector<ReportedSource> sources;  // of pooled_aurc; empty if it was not requested
};

// Tables in text, Markdown and LaTeX (booktabs) are rounded and scaled for reading; CSV and JSON hold the values in
// full precision. JSON: {"n_known", "n_unknown", "metrics": {name: {"value", "low", "high", "unit", "higher_is_better",
// "label"}}, "absent": {name: reason}}, without low and high if there is no interval; with groups also "groups":
// {name: {"n_unknown", "metrics"}}, with known sets "known_sets": {name: {"n_known", "metrics"}}, and with pooled_aurc
// "pooled_aurc_parts".
std::string FormatEvaluation(const EvaluationReport& report, TextFormat format);

// The JSON before it is text. Names come from files: JsonText() replaces bytes that are not UTF-8.
nlohmann::ordered_json EvaluationJson(const EvaluationReport& report);

// The CSV: a row for each metric and set of samples, in full precision.
Table EvaluationTable(const EvaluationReport& report);

// "30 known samples of 3 classes, 20 unknown samples (known : unknown = 1.5 : 1)".
std::string SamplesText(const EvaluationReport& report);

// ---- The result of `openset eval --as=methods`, several methods in one table, and its text in each format.

struct MethodReport {
  std::string name;  // unique
  EvaluationReport report;
};

enum class MethodsLayout { kRowPerMetric, kRowPerMethod };

// One table with a row for each metric and a column for each method, or the other way round (CSV and JSON have one
// form); "-" if a method lacks the metric; intervals in brackets. Sets of unknown and of known samples and the sources
// of pooled_aurc have their own tables. Lines below the tables list absent metrics by reason, with the methods if not
// all lack them. CSV: the column `method`, then an evaluation's columns. JSON: {"methods": {name: the evaluation's}}.
// Preconditions: there are methods, all with the same metrics in the same order.
std::string FormatMethods(absl::Span<const MethodReport> methods, TextFormat format,
                          MethodsLayout layout = MethodsLayout::kRowPerMetric);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_EVALUATION_REPORT_H_
