#include "eval/curves/curves.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace openset {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Calls visit(threshold, accepted) for each distinct score that counts.
template <typename Visit>
void ForEachThreshold(const RankedInput& ranked, Visit visit) {
  Tally accepted;
  for (int64_t block = 0; block < ranked.blocks().size(); ++block) {
    if (ranked.blocks()[block].all() == 0) continue;
    accepted += ranked.blocks()[block];
    visit(ranked.ranking().Score(block), accepted);
  }
}

template <typename Height>
std::vector<CurvePoint> OverUnknownAccepted(const RankedInput& ranked, Height height) {
  const Tally& total = ranked.total();
  if (total.known() == 0 || total.unknown == 0) return {};
  std::vector<CurvePoint> curve = {{-kInfinity, 0, 0}};
  ForEachThreshold(ranked, [&](double threshold, const Tally& accepted) {
    curve.push_back({threshold, static_cast<double>(accepted.unknown) / total.unknown,
                     static_cast<double>(height(accepted)) / total.known()});
  });
  return curve;
}

// The area of the triangle of three points.
double TriangleArea(const CurvePoint& a, const CurvePoint& b, const CurvePoint& c) {
  return std::abs((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)) / 2;
}

// Widens `range` to the 1st and 99th percentiles of the finite scores of a kind, if there are any: the least scores
// that 1 % and 99 % of them do not exceed.
template <typename Count>
void AddPercentiles(const RankedInput& ranked, Count count, ScoreRange* range) {
  std::vector<std::pair<double, int64_t>> finite;  // score, samples
  int64_t all = 0;
  for (int64_t block = 0; block < ranked.blocks().size(); ++block) {
    const int64_t here = count(ranked.blocks()[block]);
    if (here == 0 || std::isinf(ranked.ranking().Score(block))) continue;
    finite.emplace_back(ranked.ranking().Score(block), here);
    all += here;
  }
  int64_t seen = 0;
  for (const auto& [score, here] : finite) {
    // Whole numbers: the sample of rank ceil(share * all) is in this block.
    for (const int64_t percent : {1, 99}) {
      const int64_t rank = (percent * all + 99) / 100;
      if (seen >= rank || seen + here < rank) continue;
      range->low = std::min(range->low, score);
      range->high = std::max(range->high, score);
    }
    seen += here;
  }
}

}  // namespace

std::vector<CurvePoint> RocCurve(const RankedInput& ranked) {
  return OverUnknownAccepted(ranked, [](const Tally& accepted) { return accepted.known(); });
}

std::vector<CurvePoint> OscrCurve(const RankedInput& ranked) {
  if (!ranked.input().has_predictions()) return {};
  return OverUnknownAccepted(ranked, [](const Tally& accepted) { return accepted.correct; });
}

std::vector<CurvePoint> RiskCoverageCurve(const RankedInput& ranked, RiskSamples::Value over) {
  if (!ranked.input().has_predictions() && ranked.input().loss().empty()) return {};
  const double all = static_cast<double>(RiskOfAll(ranked, over).samples);
  std::vector<CurvePoint> curve;
  Risk accepted;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
    const Risk block = RiskOfBlock(ranked, i, over);
    if (block.samples == 0) continue;
    accepted.samples += block.samples;
    accepted.errors += block.errors;
    const auto samples = static_cast<double>(accepted.samples);
    curve.push_back({ranked.ranking().Score(i), samples / all, accepted.errors / samples});
  }
  return curve;
}

std::vector<CurvePoint> CostCurve(const RankedInput& ranked) {
  // The lower convex hull of (share of known samples rejected, share of unknown samples accepted): no other threshold
  // is the best anywhere.
  std::vector<CurvePoint> hull;
  const std::vector<CurvePoint> roc = RocCurve(ranked);
  for (auto point = roc.rbegin(); point != roc.rend(); ++point) {
    const CurvePoint next = {point->threshold, 1 - point->y, point->x};
    if (!hull.empty() && hull.back().x == next.x) hull.pop_back();  // which accepts more unknown samples
    while (hull.size() >= 2) {
      const CurvePoint &a = hull[hull.size() - 2], &b = hull.back();
      if ((b.x - a.x) * (next.y - a.y) - (b.y - a.y) * (next.x - a.x) > 0) break;
      hull.pop_back();
    }
    hull.push_back(next);
  }
  std::vector<CurvePoint> curve;
  for (size_t i = 0; i < hull.size(); ++i) {
    double x = 0;
    if (i > 0) {
      const double rejected = hull[i].x - hull[i - 1].x, accepted = hull[i - 1].y - hull[i].y;
      x = rejected / (rejected + accepted);  // where both cost the same
    }
    curve.push_back({hull[i].threshold, x, x * hull[i].y + (1 - x) * hull[i].x});
  }
  if (!curve.empty() && curve.back().x < 1) curve.push_back({hull.back().threshold, 1, hull.back().y});
  return curve;
}

std::vector<CurvePoint> NetBenefitCurve(const RankedInput& ranked) {
  const std::vector<CurvePoint> costs = CostCurve(ranked);
  if (costs.empty()) return {};
  const double unknown = static_cast<double>(ranked.total().unknown) / static_cast<double>(ranked.total().all());
  std::vector<CurvePoint> curve;
  size_t after = costs.size() - 1;
  for (int percent = 1; percent < 100; ++percent) {  // x of the cost curve falls
    const double probability = percent / 100.0, odds = unknown * (1 - probability) / probability;
    const double x = odds / (odds + 1 - unknown);
    while (after > 1 && costs[after - 1].x >= x) --after;
    const CurvePoint &a = costs[after - 1], &b = costs[after];
    const double cost = a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x);
    curve.push_back(
        {a.threshold, probability, unknown - cost * (odds + 1 - unknown) * probability / (1 - probability)});
  }
  return curve;
}

std::vector<CurvePoint> NetBenefitWithoutScore(const RankedInput& ranked) {
  const double unknown = static_cast<double>(ranked.total().unknown) / static_cast<double>(ranked.total().all());
  std::vector<CurvePoint> curve;
  for (int percent = 1; percent < 100; ++percent) {
    const double probability = percent / 100.0, all = unknown - (1 - unknown) * probability / (1 - probability);
    curve.push_back({all > 0 ? -kInfinity : kInfinity, probability, std::max(0.0, all)});
  }
  return curve;
}

std::vector<CurvePoint> Thinned(absl::Span<const CurvePoint> curve, int max_points, double area) {
  constexpr double kRounding = 1e-15;  // of points on one line
  const int64_t n = static_cast<int64_t>(curve.size());
  std::vector<int64_t> before(n), after(n);
  std::vector<double> triangle(n, -1);  // -1 for removed points and ends
  using Entry = std::pair<double, int64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> smallest;
  const auto weigh = [&](int64_t i) {
    if (i == 0 || i == n - 1) return;
    triangle[i] = TriangleArea(curve[before[i]], curve[i], curve[after[i]]);
    smallest.emplace(triangle[i], i);
  };
  for (int64_t i = 0; i < n; ++i) {
    before[i] = i - 1;
    after[i] = i + 1;
  }
  for (int64_t i = 0; i < n; ++i) weigh(i);
  int64_t left = n;
  double lost = 0;
  std::vector<bool> gone(n, false);
  while (!smallest.empty()) {
    const auto [size, i] = smallest.top();
    smallest.pop();
    if (gone[i] || size != triangle[i]) continue;  // its triangle has changed since
    if (lost + size > area + kRounding * static_cast<double>(n) && left <= max_points) break;
    lost += size;
    --left;
    gone[i] = true;
    after[before[i]] = after[i];
    before[after[i]] = before[i];
    weigh(before[i]);
    weigh(after[i]);
  }
  std::vector<CurvePoint> kept;
  for (int64_t i = 0; i < n; ++i) {
    if (!gone[i]) kept.push_back(curve[i]);
  }
  return kept;
}

ScoreRange RangeOfDensities(const RankedInput& ranked) {
  ScoreRange range = {kInfinity, -kInfinity};
  ScoreRange ends = range;
  for (int64_t block = 0; block < ranked.blocks().size(); ++block) {
    const double score = ranked.ranking().Score(block);
    if (ranked.blocks()[block].all() == 0 || std::isinf(score)) continue;
    ends = {std::min(ends.low, score), std::max(ends.high, score)};
  }
  if (ends.low > ends.high) return ends;
  AddPercentiles(
      ranked, [](const Tally& tally) { return tally.known(); }, &range);
  AddPercentiles(
      ranked, [](const Tally& tally) { return tally.unknown; }, &range);
  const double margin = range.high / 4 - range.low / 4;  // the difference may be infinite
  if (margin == 0) return ends;
  return {std::max(ends.low, range.low - margin), std::min(ends.high, range.high + margin)};
}

ScoreHistogram ScoreDensities(const RankedInput& ranked, int bins) {
  const auto [low, high] = RangeOfDensities(ranked);
  ScoreHistogram histogram;
  if (low <= high) histogram.bins.resize(low < high ? bins : 1);
  // Scores that are so far apart that their difference is infinite are divided by 4.
  const double scale = std::isinf(high - low) ? 0.25 : 1;
  const double width = (high * scale - low * scale) / bins;
  const auto edge = [&](size_t b) { return (low * scale + static_cast<double>(b) * width) / scale; };
  for (size_t b = 0; b < histogram.bins.size(); ++b) {
    histogram.bins[b].low = edge(b);
    histogram.bins[b].high = b + 1 == histogram.bins.size() ? high : edge(b + 1);
  }
  for (int64_t block = 0; block < ranked.blocks().size(); ++block) {
    const double score = ranked.ranking().Score(block);
    if (ranked.blocks()[block].all() == 0) continue;
    if (score < low || score > high || histogram.bins.empty()) {
      (score > high ? histogram.above : histogram.below) += ranked.blocks()[block];
      continue;
    }
    const auto place = width > 0 ? static_cast<size_t>((score * scale - low * scale) / width) : 0;
    histogram.bins[std::min(place, histogram.bins.size() - 1)].count += ranked.blocks()[block];
  }
  return histogram;
}

}  // namespace openset
