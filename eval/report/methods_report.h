// The result of `openset eval --as=methods`, several methods in one table, and its text in each format.
#ifndef OPENSET_EVAL_REPORT_METHODS_REPORT_H_
#define OPENSET_EVAL_REPORT_METHODS_REPORT_H_

#include <string>

#include "absl/types/span.h"
#include "eval/report/evaluation_report.h"

namespace openset {

struct MethodReport {
  std::string name;  // unique
  EvaluationReport report;
};

enum class MethodsLayout { kRowPerMetric, kRowPerMethod };

// One table with a row for each metric and a column for each method, or the other way round (CSV and JSON have one
// form); "-" if a method lacks the metric; intervals in brackets. Sets of unknown and of known samples and the sources
// of pooled_aurc have their own tables. Lines below the tables list absent metrics by reason, with the methods if not
// all lack them. CSV: the column `method`, then those of an evaluation. JSON: {"methods": {name: the evaluation's}}.
// Preconditions: there are methods, all with the same metrics in the same order.
std::string FormatMethods(absl::Span<const MethodReport> methods, TextFormat format,
                          MethodsLayout layout = MethodsLayout::kRowPerMetric);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_METHODS_REPORT_H_
