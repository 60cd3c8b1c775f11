// Curves as data, for plots and files. Their areas are the metrics of eval/metrics.
#ifndef OPENSET_EVAL_CURVES_CURVES_H_
#define OPENSET_EVAL_CURVES_CURVES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/ranked_input.h"
#include "eval/metrics/selective/aurc.h"

namespace openset {

// A point where the samples with an unknown score of at most `threshold` are accepted.
struct CurvePoint {
  double threshold = 0;
  double x = 0;
  double y = 0;
};

// One point a distinct score, by ascending threshold, after a first one where nothing is accepted (threshold -inf).
// Straight lines between the points give the area.

// x = share of the unknown samples accepted, y = share of the known ones accepted: the area is the AUROC (known =
// positive; mirrored at the other diagonal it is the curve for unknown = positive). Empty without known or without
// unknown samples.
std::vector<CurvePoint> RocCurve(const RankedInput& ranked);

// x = OFPR, as above, y = COTPR = share of the known samples accepted and classified correctly: the area is OpenAUC.
// Empty without known samples, without unknown ones, without predictions.
std::vector<CurvePoint> OscrCurve(const RankedInput& ranked);

// x = coverage, y = risk among the accepted, over known samples or the pool; no point where nothing is accepted. Empty
// without samples and without predictions.
std::vector<CurvePoint> RiskCoverageCurve(const RankedInput& ranked, RiskOver over);

// The first and the last point and, of those between, the ones that matter most: points whose triangle with the two
// that are left beside them is smallest go one by one (Visvalingam and Whyatt 1993), for as long as the triangles'
// areas sum to at most `area`, and then until `max_points` are left. Where max_points does not bind, the area below the
// curve changes by no more than `area`. Precondition: max_points >= 2.
std::vector<CurvePoint> Thinned(absl::Span<const CurvePoint> curve, int max_points, double area = 0);

// How many samples of each kind have a score in [low, high), the last bin closed.
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

// The axis of score densities, which a few extreme samples don't squash: the hundredth and the ninety-ninth percentile
// (of the known and of the unknown samples, the lower and the higher one) and a quarter of the distance between them to
// each side, or the least and the largest finite score where these are nearer. low > high where no score is finite.
struct ScoreRange {
  double low = 0;
  double high = 0;
};
ScoreRange RangeOfDensities(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_CURVES_CURVES_H_
