// Curves as data, for plots and files. The areas under them are metrics of eval/metrics.
#ifndef OPENSET_EVAL_CURVES_CURVES_H_
#define OPENSET_EVAL_CURVES_CURVES_H_

#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/aurc.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// The point of a curve at which samples with an unknown score of at most `threshold` are accepted.
struct CurvePoint {
  double threshold = 0;
  double x = 0;
  double y = 0;
};

// A curve has one point for each distinct score, by ascending threshold, after a first point at which nothing is
// accepted (threshold -inf). Points are joined by straight lines.

// x = share of unknown samples that are accepted, y = share of known samples that are accepted. The area is the AUROC.
// Known is positive; mirrored at the other diagonal, it is the curve with unknown as positive. Empty without known or
// without unknown samples.
std::vector<CurvePoint> RocCurve(const RankedInput& ranked);

// x = OFPR, the x above; y = COTPR, the share of known samples that are accepted and classified correctly. The area is
// OpenAUC. Empty without known samples, without unknown samples, or without predictions.
std::vector<CurvePoint> OscrCurve(const RankedInput& ranked);

// x = coverage, y = risk among the accepted samples, over the known samples or the pool. There is no point at coverage
// 0. Empty without samples, or without predictions and a loss.
std::vector<CurvePoint> RiskCoverageCurve(const RankedInput& ranked, RiskSamples::Value over);

// The cost curve (Drummond and Holte 2006): x = p c / (p c + 1 - p), where a new sample is unknown with probability p
// and accepting it costs c times as much as rejecting a known one; y = the expected cost at the best threshold over p c
// + 1 - p, x * (share of unknown samples accepted) + (1 - x) * (share of known samples rejected). `threshold` is the
// best from this x up to the next point's. Points are joined by straight lines. Empty as RocCurve().
std::vector<CurvePoint> CostCurve(const RankedInput& ranked);

// The decision curve (Vickers and Elkin 2006) of rejecting unknown samples: x = the threshold probability p_t = 0.01,
// 0.02 ... 0.99, at which rejecting a sample pays (1 / (1 + c), if accepting an unknown one costs c times as much as
// rejecting a known one); y = the net benefit at the best threshold, (unknown samples rejected - known samples rejected
// * p_t / (1 - p_t)) / N. The N samples' share of unknown ones counts as that of new samples. Empty as RocCurve().
std::vector<CurvePoint> NetBenefitCurve(const RankedInput& ranked);
// The same of the better of rejecting all samples and none.
std::vector<CurvePoint> NetBenefitWithoutScore(const RankedInput& ranked);

// Simplifies a curve (Visvalingam and Whyatt 1993): keeps the first and the last point, and repeatedly removes the
// point whose triangle with its two remaining neighbours is smallest, as long as the areas of these triangles add up to
// at most `area`, and then until `max_points` are left. Unless max_points requires more removals, the area under the
// curve changes by at most `area`. Precondition: max_points >= 2.
std::vector<CurvePoint> Thinned(absl::Span<const CurvePoint> curve, int max_points, double area = 0);

// The number of samples of each kind in each bin of [low, high); the last bin also includes `high`.
struct ScoreBin {
  double low = 0;
  double high = 0;
  Tally count;
};
struct ScoreHistogram {
  std::vector<ScoreBin> bins;  // of equal width over RangeOfDensities(); one if its ends are equal, none without it
  Tally below;                 // scores below the first bin, above the last one, infinite ones among them
  Tally above;
};
// Precondition: bins > 0.
ScoreHistogram ScoreDensities(const RankedInput& ranked, int bins);

// The axis range for score densities, robust to a few extreme samples: from the 1st percentile (the lower of the known
// and the unknown samples') to the 99th (the higher of the two), extended on each side by a quarter of the distance
// between them, but not beyond the smallest and the largest finite score. low > high if no score is finite.
struct ScoreRange {
  double low = 0;
  double high = 0;
};
ScoreRange RangeOfDensities(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_CURVES_CURVES_H_
