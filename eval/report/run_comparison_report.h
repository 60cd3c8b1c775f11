// What `openset compare RESULTS` has found, and its text in each format.
#ifndef OPENSET_EVAL_REPORT_RUN_COMPARISON_REPORT_H_
#define OPENSET_EVAL_REPORT_RUN_COMPARISON_REPORT_H_

#include <string>

#include "eval/report/document.h"
#include "eval/report/run_comparison.h"

namespace openset {

// The verdict stands first, effect sizes before p-values; of too few splits text shows no interval. CSV: a row a pair
// of methods, task and metric. JSON: {"confidence", "assumptions", "pairs": [...], "all_methods": [...], "left_out":
// [...]}. Both hold full precision; what is undefined is empty there, or null.
std::string FormatRunComparison(const RunComparison& comparison, TextFormat format, size_t width = kTextWidth);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_RUN_COMPARISON_REPORT_H_
