// The result of `openset compare RESULTS`, and its text in each format.
#ifndef OPENSET_EVAL_REPORT_RUN_COMPARISON_REPORT_H_
#define OPENSET_EVAL_REPORT_RUN_COMPARISON_REPORT_H_

#include <string>

#include "eval/report/document.h"
#include "eval/report/run_comparison.h"

namespace openset {

// The verdict comes first, and effect sizes before p-values. With too few splits, text shows no interval. CSV: a row
// for each pair of methods, task and metric. JSON: {"confidence", "assumptions", "pairs": [...], "all_methods": [...],
// "left_out": [...]}. Both have full precision; undefined values are empty, or null in JSON.
std::string FormatRunComparison(const RunComparison& comparison, TextFormat format, size_t width = kTextWidth);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_RUN_COMPARISON_REPORT_H_
