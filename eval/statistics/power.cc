#include "eval/statistics/power.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "boost/math/distributions/complement.hpp"
#include "boost/math/distributions/non_central_t.hpp"
#include "eval/statistics/intervals.h"
#include "eval/statistics/paired_tests.h"

namespace openset {
namespace {

constexpr int kMostReplicates = 10000;
constexpr int kHalvings = 45;  // of an interval, to a relative error below 1e-12

}  // namespace

double PairedPower(double ratio, int replicates, double level) {
  const double df = replicates - 1;
  const double t = StudentTTwoSidedQuantile(level, df);
  // With 2 degrees of freedom, |T| < t has a probability of about exp(-(ratio / t)^2), and less with more.
  if (ratio > 8 * t) return 1;
  const boost::math::non_central_t_distribution<double> differs(df, ratio);
  return boost::math::cdf(differs, -t) + boost::math::cdf(boost::math::complement(differs, t));
}

double DetectableRatio(int replicates, double level) {
  double low = 0, high = 1;
  while (PairedPower(high, replicates, level) < kPower) high *= 2;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (PairedPower(middle, replicates, level) < kPower ? low : high) = middle;
  }
  return high;
}

std::vector<std::optional<double>> DetectableDifferences(absl::Span<const PairedTest> tests, double alpha) {
  std::map<int, double> ratios;  // by the number of replicates
  std::vector<std::optional<double>> differences(tests.size());
  for (size_t i = 0; i < tests.size(); ++i) {
    if (!(tests[i].standard_error > 0)) continue;
    const auto [ratio, is_new] = ratios.try_emplace(tests[i].replicates);
    if (is_new) ratio->second = DetectableRatio(tests[i].replicates, alpha / static_cast<double>(tests.size()));
    differences[i] = ratio->second * tests[i].standard_error;
  }
  return differences;
}

int ReplicatesToDetect(double effect, double level, double shared) {
  const auto suffices = [&](int n) { return PairedPower(effect / std::sqrt(1.0 / n + shared), n, level) >= kPower; };
  int least = kFewestReplicates, most = kFewestReplicates;
  while (!suffices(most)) {
    if (most >= kMostReplicates) return 0;
    least = most + 1;
    most = std::min(2 * most, kMostReplicates);
  }
  while (least < most) {
    const int middle = least + (most - least) / 2;
    if (suffices(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return most;
}

}  // namespace openset
