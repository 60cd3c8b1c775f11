// The curves of an evaluation, as files.
#ifndef OPENSET_EVAL_REPORT_CURVE_FILES_H_
#define OPENSET_EVAL_REPORT_CURVE_FILES_H_

#include <string>
#include <utility>
#include <vector>

#include "eval/metrics/ranked_input.h"

namespace openset {

// Names and contents: roc, oscr, risk_coverage, risk_coverage_pool, thresholds (metrics of the
// decisions, at most 1000 rows), score_densities and reliability, each as .csv
// (every point, full precision) and .svg (thinned to what can be seen), and index.html with all pictures and `summary`
// (text), which needs nothing but itself. Curves that are undefined on the input (no unknown samples, no logits) are
// left out.
std::vector<std::pair<std::string, std::string>> CurveFiles(const RankedInput& ranked, const std::string& title,
                                                            const std::string& summary);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_CURVE_FILES_H_
