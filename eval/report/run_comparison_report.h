// The result of `openset compare RESULTS`, its text in each format, and critical-difference diagrams (Demsar 2006).
#ifndef OPENSET_EVAL_REPORT_RUN_COMPARISON_REPORT_H_
#define OPENSET_EVAL_REPORT_RUN_COMPARISON_REPORT_H_

#include <string>
#include <vector>

#include "core/chart/vega_lite.h"
#include "eval/report/document.h"
#include "eval/report/run_comparison.h"
#include "eval/statistics/paired_tests.h"

namespace openset {

// ---- Critical-difference diagrams (Demsar 2006).

// Mean ranks on an axis (1 = best, at the left), with the critical difference above it and bars over methods that don't
// differ significantly. `methods` are the names, in the order of the test.
VegaLite CriticalDifferenceDiagram(const std::string& title, const std::vector<std::string>& methods,
                                   const FriedmanTest& test);

// ---- The result of `openset compare RESULTS`, and its text in each format.

// A sentence for each pair, as a paper has it, in the order of the pairs.
struct ComparisonSentences {
  std::vector<std::string> detected;  // a tested difference
  std::vector<std::string> others;    // none was detected, or there was no test
};
ComparisonSentences SentencesOf(const RunComparison& comparison);

// The verdict comes first, and effect sizes before p-values. CSV: a row for each pair of methods, task and metric.
// JSON:
// {"confidence", "assumptions", "pairs": [...], "all_methods": [...], "left_out": [...], "hints": [...]}. Both have
// full precision; undefined and infinite values are empty, or null in JSON. Rows without a test (`tested`) have neither
// an interval nor a p-value of the t test in any format. Text has a table for each metric, in one piece if columns that
// CSV has too can be left out for it. It ends with a sentence for each comparison, if there are few; kSentence has only
// these sentences.
std::string FormatRunComparison(const RunComparison& comparison, TextFormat format, size_t width = kTextWidth);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_RUN_COMPARISON_REPORT_H_
