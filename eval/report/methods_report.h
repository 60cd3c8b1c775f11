// Several methods in one table: what `openset eval --as=methods` has found, and its text in each format.
#ifndef OPENSET_EVAL_REPORT_METHODS_REPORT_H_
#define OPENSET_EVAL_REPORT_METHODS_REPORT_H_

#include <string>

#include "absl/types/span.h"
#include "eval/report/evaluation_report.h"

namespace openset {

struct MethodReport {
  std::string name;  // unlike those of the others
  EvaluationReport report;
};

enum class MethodsLayout { kRowPerMetric, kRowPerMethod };

// One table, a row a metric and a column a method or the other way round (CSV and JSON have one form), "-" where a
// method lacks the metric; with intervals in brackets. Sets of unknown and of known samples and the sources of
// pooled_aurc have a table each. What is absent is said below, by reason, with the methods where it is not all of them.
// CSV: the columns of an evaluation's after one, `method`. JSON:
// {"methods": {name: that of the evaluation}}. Preconditions: there are methods, all with the same metrics in the same
// order.
std::string FormatMethods(absl::Span<const MethodReport> methods, TextFormat format,
                          MethodsLayout layout = MethodsLayout::kRowPerMetric);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_METHODS_REPORT_H_
