// How often 95 % intervals contain the true value, on inputs drawn from a distribution whose AUROC and OpenAUC are
// known.
//
// Known scores are N(0, 1), unknown ones N(1, 1), and a known sample is classified correctly with probability 0.8,
// whatever its score: AUROC = Phi(1 / sqrt(2)), OpenAUC = 0.8 AUROC. If an interval's true coverage lies in 0.93 ..
// 0.97, its share of inputs leaves the bounds with a small probability:
//   of 300 inputs, below 266 (three standard deviations of a binomial share) for 0.93 with 0.0023, all of them for 0.97
//   with 0.97^300 = 0.0001; for any of the six shares at most 0.015;
//   of OPENSET_COVERAGE_INPUTS = 5,000 inputs (the slow test), five standard deviations: with less than 1e-6.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "eval/statistics/bootstrap.h"
#include "eval/statistics/delong.h"
#include "eval/statistics/intervals.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr int kSide = 100;  // known and unknown samples

Samples DrawInput(int number) {
  RandomStream random(11, absl::StrCat("coverage/", number));
  Samples samples;
  samples.num_classes = 2;
  for (int i = 0; i < 2 * kSide; ++i) {
    const bool known = i < kSide;
    samples.label.push_back(known ? 0 : kUnknownLabel);
    samples.prediction.push_back(known && random.Uniform() < 0.8 ? 0 : 1);
    samples.unknown_score.push_back(random.Normal() + (known ? 0 : 1));
  }
  return samples;
}

TEST(Coverage, OfIntervalsForAurocAndOpenAucIsNinetyFivePercent) {
  const char* wanted = std::getenv("OPENSET_COVERAGE_INPUTS");
  const int inputs = wanted == nullptr ? 300 : std::atoi(wanted);
  const double auroc = NormalCdf(1 / std::sqrt(2.0));
  const double truth[] = {auroc, 0.8 * auroc};
  std::vector<MetricSpec> metrics(2);
  metrics[0].mutable_auroc();
  metrics[1].mutable_openauc();

  int held[3][2] = {};
  double difference = 0;
  for (int number = 0; number < inputs; ++number) {
    const Samples samples = DrawInput(number);
    const RankedInput ranked(samples.Input());
    BootstrapOptions options;
    options.replicates = 400;
    options.seed = number;
    const auto bca = BootstrapIntervals(metrics, ranked, options).value();
    options.method = IntervalMethod::kPercentile;
    const auto percentile = BootstrapIntervals(metrics, ranked, options).value();
    for (int m = 0; m < 2; ++m) {
      const NormalInterval delong =
          DeLongInterval(ranked, m == 0 ? PairStatistic::kAuroc : PairStatistic::kOpenAuc).value();
      held[0][m] += bca[m].low <= truth[m] && truth[m] <= bca[m].high;
      held[1][m] += percentile[m].low <= truth[m] && truth[m] <= percentile[m].high;
      held[2][m] += delong.low <= truth[m] && truth[m] <= delong.high;
      difference += (percentile[m].high - percentile[m].low) / (delong.high - delong.low) - 1;
    }
  }
  const double n = inputs;
  const double deviations = wanted == nullptr ? 3 : 5;
  const double lowest = 0.93 - deviations * std::sqrt(0.93 * 0.07 / n);
  const double highest = 0.97 + deviations * std::sqrt(0.97 * 0.03 / n);
  ASSERT_LT(highest, 1);  // or it could not be exceeded
  const char* names[] = {"BCa", "percentile", "DeLong"};
  for (int i = 0; i < 3; ++i) {
    for (int m = 0; m < 2; ++m) {
      RecordProperty(absl::StrCat(names[i], m), absl::StrCat(held[i][m] / n));
      EXPECT_GE(held[i][m] / n, lowest) << names[i] << (m == 0 ? ", AUROC" : ", OpenAUC");
      EXPECT_LE(held[i][m] / n, highest) << names[i] << (m == 0 ? ", AUROC" : ", OpenAUC");
    }
  }
  // The bootstrap and the closed form estimate the same variance: their widths agree on average. A width of 400
  // replicates is off by about 5 %, the mean over all inputs by 0.2 % or less.
  EXPECT_NEAR(difference / (2 * n), 0, 0.04);
}

}  // namespace
}  // namespace openset
