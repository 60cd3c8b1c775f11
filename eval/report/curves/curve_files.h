// Writes the curves of an evaluation to files.
#ifndef OPENSET_EVAL_REPORT_CURVES_CURVE_FILES_H_
#define OPENSET_EVAL_REPORT_CURVES_CURVE_FILES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/chart/vega_lite.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

struct CurveFiles {
  // Contents by name: each curve's NAME.csv (every point, full precision), and index.html with all pictures and the
  // summary, which needs no other file.
  std::map<std::string, std::string> files;
  // The plots by NAME, thinned to visible detail: roc, oscr, risk_coverage, risk_coverage_pool, thresholds
  // (metrics of the decisions, at most 1000 rows), score_densities, reliability. Curves that are undefined on the input
  // (no unknown samples, no logits) are omitted.
  std::map<std::string, VegaLite> charts;
};

// `summary` is text. Errors: those of ToHtml().
absl::StatusOr<CurveFiles> MakeCurveFiles(const RankedInput& ranked, const std::string& title,
                                          const std::string& summary);

struct RankedMethod {
  std::string name;
  const RankedInput* ranked = nullptr;
};

// roc, oscr, risk_coverage and risk_coverage_pool, each with the curves of all methods that have one, and index.html.
// The first column of a .csv is `method`. Densities and thresholds, which depend on one method's scale of scores, are
// omitted. Errors: those of ToHtml().
absl::StatusOr<CurveFiles> MakeOverlaidCurveFiles(absl::Span<const RankedMethod> methods, const std::string& title,
                                                  const std::string& summary);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_CURVES_CURVE_FILES_H_
