#include "eval/curves/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace openset {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void Add(const Tally& block, Tally* sum) {
  sum->correct += block.correct;
  sum->wrong += block.wrong;
  sum->unknown += block.unknown;
}

// Calls visit(threshold, accepted) for each distinct score that counts.
template <typename Visit>
void ForEachThreshold(const RankedInput& ranked, Visit visit) {
  Tally accepted;
  for (int64_t block = 0; block < ranked.blocks().size(); ++block) {
    if (ranked.blocks()[block].all() == 0) continue;
    Add(ranked.blocks()[block], &accepted);
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

// Whether b lies on the line from a to c, to rounding.
bool IsStraight(const CurvePoint& a, const CurvePoint& b, const CurvePoint& c) {
  return std::abs((b.x - a.x) * (c.y - b.y) - (c.x - b.x) * (b.y - a.y)) <= 1e-15;
}

}  // namespace

std::vector<CurvePoint> RocCurve(const RankedInput& ranked) {
  return OverUnknownAccepted(ranked, [](const Tally& accepted) { return accepted.known(); });
}

std::vector<CurvePoint> OscrCurve(const RankedInput& ranked) {
  return OverUnknownAccepted(ranked, [](const Tally& accepted) { return accepted.correct; });
}

std::vector<CurvePoint> RiskCoverageCurve(const RankedInput& ranked, RiskOver over) {
  const bool pool = over == RiskOver::kPool;
  const double all = pool ? ranked.total().all() : ranked.total().known();
  std::vector<CurvePoint> curve;
  double last = 0;
  ForEachThreshold(ranked, [&](double threshold, const Tally& accepted) {
    const double samples = pool ? accepted.all() : accepted.known();
    if (samples == last) return;
    last = samples;
    const double errors = static_cast<double>(accepted.wrong) + (pool ? accepted.unknown : 0);
    curve.push_back({threshold, samples / all, errors / samples});
  });
  return curve;
}

std::vector<CurvePoint> Thinned(absl::Span<const CurvePoint> curve, int max_points) {
  std::vector<CurvePoint> bends;
  for (size_t i = 0; i < curve.size(); ++i) {
    if (i > 0 && i + 1 < curve.size() && IsStraight(bends.back(), curve[i], curve[i + 1])) continue;
    bends.push_back(curve[i]);
  }
  if (bends.size() <= static_cast<size_t>(max_points)) return bends;
  std::vector<CurvePoint> spread;
  for (int64_t i = 0; i < max_points; ++i) {
    spread.push_back(bends[i * (static_cast<int64_t>(bends.size()) - 1) / (max_points - 1)]);
  }
  return spread;
}

ScoreHistogram ScoreDensities(const RankedInput& ranked, int bins) {
  double low = kInfinity;
  double high = -kInfinity;
  for (int64_t block = 0; block < ranked.blocks().size(); ++block) {
    const double score = ranked.ranking().Score(block);
    if (ranked.blocks()[block].all() == 0 || std::isinf(score)) continue;
    low = std::min(low, score);
    high = std::max(high, score);
  }
  ScoreHistogram histogram;
  if (low <= high) histogram.bins.resize(low < high ? bins : 1);
  const double width = (high - low) / bins;
  for (size_t b = 0; b < histogram.bins.size(); ++b) {
    histogram.bins[b].low = low + static_cast<double>(b) * width;
    histogram.bins[b].high = b + 1 == histogram.bins.size() ? high : low + static_cast<double>(b + 1) * width;
  }
  for (int64_t block = 0; block < ranked.blocks().size(); ++block) {
    const double score = ranked.ranking().Score(block);
    if (ranked.blocks()[block].all() == 0) continue;
    if (std::isinf(score)) {
      Add(ranked.blocks()[block], score < 0 ? &histogram.minus_infinity : &histogram.plus_infinity);
      continue;
    }
    const auto place = width > 0 ? static_cast<size_t>((score - low) / width) : 0;
    Add(ranked.blocks()[block], &histogram.bins[std::min(place, histogram.bins.size() - 1)].count);
  }
  return histogram;
}

}  // namespace openset
