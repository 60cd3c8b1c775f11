// The simulations draw studies of two methods whose differences, per run, are an effect of the split (standard
// deviation 2) plus noise of the seed (1), both normal. The default form draws 1,000 studies of each kind, the slow one
// (OPENSET_SEQUENTIAL_STUDIES) 10,000. If the true probability is at most 0.05, more than the bound of 0.05 + 4
// standard deviations of a binomial share are counted with a probability below 1e-4. Seeds are fixed, so a test that
// passes once always passes.
#include "eval/statistics/sequential.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/statistics/intervals.h"
#include "eval/statistics/power.h"

namespace openset {
namespace {

std::vector<double> Quantiles(const std::vector<double>& levels) {
  std::vector<double> quantiles;
  for (const double level : levels) quantiles.push_back(-NormalQuantile(level / 2));
  return quantiles;
}

// With many replicates, Student's t is normal: the published boundaries of O'Brien and Fleming's spending, a one-sided
// 0.025 on each side (R's package ldbounds, bounds(c(.2, .4, .6, .8, 1), iuse = c(1, 1), alpha = c(.025, .025)), after
// Reboussin et al. 2000). The standard error of a share, 0.003, is 0.0012 of the quantiles.
TEST(NominalLevels, AreThoseOfLanAndDeMetsForManyReplicates) {
  std::vector<double> spent;
  for (const double t : {0.2, 0.4, 0.6, 0.8, 1.0})
    spent.push_back(4 * NormalCdf(NormalQuantile(0.0125) / std::sqrt(t)));
  const std::vector<int> replicates = {20000, 40000, 60000, 80000, 100000};
  const std::vector<double> quantiles = Quantiles(NominalLevels(replicates, spent));
  const double expected[] = {4.8769, 3.3569, 2.6803, 2.2898, 2.0310};
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(quantiles[k], expected[k], 0.005) << k;
}

// The same for SpentLevel(): SciPy's multivariate_normal.cdf of the box |Z_1| < z_1, ..., |Z_k| < z_k, solved for z_k
// by brentq.
TEST(NominalLevels, AreThoseOfTheMultivariateNormalDistributionForManyReplicates) {
  std::vector<double> spent;
  for (const double t : {0.25, 0.4375, 0.625, 0.8125, 1.0}) spent.push_back(SpentLevel(0.05, t));
  const std::vector<int> replicates = {40000, 70000, 100000, 130000, 160000};
  const std::vector<double> quantiles = Quantiles(NominalLevels(replicates, spent));
  const double expected[] = {2.955167, 2.668974, 2.453197, 2.275150, 2.119974};
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(quantiles[k], expected[k], 0.005) << k;
}

TEST(NominalLevels, OfOneLookAreTheLevel) {
  EXPECT_DOUBLE_EQ(NominalLevels({7}, {0.05})[0], 0.05);
  const std::vector<double> late = NominalLevels({5, 9}, {0.0, 0.05});  // nothing is spent at the first look
  EXPECT_DOUBLE_EQ(late[0], 0);
  EXPECT_NEAR(late[1], 0.05, 1e-9);
  // A look without new splits has what it spends.
  EXPECT_NEAR(NominalLevels({5, 5}, {0.02, 0.05})[1], 0.03, 1e-12);
}

TEST(SequentialDesign, AddsSplitsThenSeeds) {
  const auto text = [](const SequentialDesign& design) {
    std::string text;
    for (const Look& look : design.looks) absl::StrAppend(&text, look.splits, "x", look.seeds, " ");
    return text;
  };
  EXPECT_EQ(text(MakeSequentialDesign({5, 1}, {20, 1}, 0.05)), "5x1 9x1 13x1 17x1 20x1 ");
  EXPECT_EQ(text(MakeSequentialDesign({5, 2}, {6, 5}, 0.05)), "5x2 6x2 6x4 6x5 ");
  EXPECT_EQ(text(MakeSequentialDesign({3, 2}, {3, 2}, 0.05)), "3x2 ");
}

// NumPy, with SciPy's t distribution: the levels at which the same shares of 400,000 drawn rejections follow no earlier
// one, with which 3,000,000 drawn studies of 20 normal replicates were rejected with a frequency of 0.04985. The
// levels' standard errors and ours are about 0.5 %; the normal distribution's would be 0.0076, 0.0142, 0.0229, 0.0340.
TEST(SequentialDesign, HasTheLevelsOfDrawnStudies) {
  const SequentialDesign design = MakeSequentialDesign({5, 1}, {20, 1}, 0.05);
  EXPECT_DOUBLE_EQ(design.levels[0], 0.05 / 16);  // what the first look may spend
  const double expected[] = {0.003125, 0.007498, 0.014099, 0.023283, 0.030309};
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(design.levels[k], expected[k], 0.015 * expected[k]) << k;
}

// 5 splits with differences of 1, 2, 3, 4, 5: mean 3, standard error sqrt(2.5 / 5) = 0.7071.
TEST(LookAt, DecidesByTheIntervalAtTheLevelOfTheLook) {
  const SequentialDesign design = MakeSequentialDesign({5, 1}, {5, 1}, 0.05);
  const std::vector<double> a = {1, 2, 3, 4, 5}, zero(5, 0.0);
  const std::vector<int> split = {0, 1, 2, 3, 4};
  const LookResult seen = LookAt(design, 0, a, zero, split, 10).value();
  EXPECT_EQ(seen.finding, Finding::kALarger);
  EXPECT_NEAR(seen.low, 3 - 2.776445 * 0.7071068, 1e-5);
  EXPECT_EQ(LookAt(design, 0, zero, a, split, 10)->finding, Finding::kBLarger);
  const std::vector<double> around = {-2, -1, 0, 1, 2};
  EXPECT_EQ(LookAt(design, 0, around, zero, split, 2)->finding, Finding::kExcluded);  // -+ 1.96
  EXPECT_EQ(LookAt(design, 0, around, zero, split, 1.9)->finding, Finding::kOpen);
  // At an early look of many, the same numbers decide nothing.
  EXPECT_EQ(LookAt(MakeSequentialDesign({5, 1}, {100, 1}, 0.05), 0, a, zero, split, 10)->finding, Finding::kOpen);
  // Without variance there is no test, whatever the difference.
  EXPECT_EQ(LookAt(design, 0, std::vector<double>(5, 1.0), zero, split, 10)->finding, Finding::kOpen);
  EXPECT_THAT(LookAt(design, 0, {1, 2}, {1}, {0, 1}, 1), StatusIs(absl::StatusCode::kInvalidArgument));
}

int Studies() {
  const char* wanted = std::getenv("OPENSET_SEQUENTIAL_STUDIES");
  return wanted == nullptr ? 1000 : std::atoi(wanted);
}

// What `studies` studies of this true difference found.
struct Found {
  double different = 0;  // shares of the studies
  double excluded = 0;
  double missed = 0;  // an interval of a look misses the true difference
  double runs = 0;    // mean, as a share of the most
};

Found Simulate(const Look& first, const Look& most, double truth, double size) {
  const SequentialDesign design = MakeSequentialDesign(first, most, 0.05);
  Found found;
  const int studies = Studies();
  for (int study = 0; study < studies; ++study) {
    RandomStream random(31, absl::StrCat("sequential/", most.splits, "/", most.seeds, "/", truth, "/", study));
    std::vector<std::vector<double>> of_split(most.splits);
    for (std::vector<double>& runs : of_split) {
      const double effect = truth + 2 * random.Normal();
      for (int seed = 0; seed < most.seeds; ++seed) runs.push_back(effect + random.Normal());
    }
    bool missed = false, is_open = true;
    for (size_t look = 0; look < design.looks.size(); ++look) {
      std::vector<double> a;
      std::vector<int> split;
      for (int s = 0; s < design.looks[look].splits; ++s) {
        for (int seed = 0; seed < design.looks[look].seeds; ++seed) {
          a.push_back(of_split[s][seed]);
          split.push_back(s);
        }
      }
      const LookResult seen = LookAt(design, look, a, std::vector<double>(a.size(), 0.0), split, size).value();
      missed |= truth < seen.low || truth > seen.high;
      if (!is_open) continue;
      is_open = seen.finding == Finding::kOpen;
      found.different += seen.finding == Finding::kALarger || seen.finding == Finding::kBLarger;
      found.excluded += seen.finding == Finding::kExcluded;
      if (!is_open || look + 1 == design.looks.size()) {
        found.runs += static_cast<double>(design.looks[look].runs()) / most.runs();
      }
    }
    found.missed += missed;
  }
  found.different /= studies;
  found.excluded /= studies;
  found.missed /= studies;
  found.runs /= studies;
  ::testing::Test::RecordProperty(
      absl::StrCat("splits_", first.splits, "_", most.splits, "_seeds_", most.seeds, "_truth_", truth, "_size_", size),
      absl::StrCat("different ", found.different, ", excluded ", found.excluded, ", missed ", found.missed, ", runs ",
                   found.runs));
  std::cout << first.splits << " to " << most.splits << " splits, " << first.seeds << " to " << most.seeds
            << " seeds, true difference " << truth << ", size " << size << ": different " << found.different
            << ", excluded " << found.excluded << ", an interval missed " << found.missed << ", runs " << found.runs
            << "\n";
  return found;
}

double Bound() { return 0.05 + 4 * std::sqrt(0.05 * 0.95 / Studies()); }

TEST(Sequential, FindsNoDifferenceThatIsNotThere) {
  for (const auto& [first, most] :
       {std::pair{Look{5, 1}, Look{20, 1}}, std::pair{Look{3, 1}, Look{10, 1}}, std::pair{Look{5, 1}, Look{10, 4}}}) {
    const Found found = Simulate(first, most, 0, 1e-9);
    EXPECT_LE(found.different, Bound());
    EXPECT_LE(found.missed, Bound());  // although looks go on after a decision
    EXPECT_GT(found.different, 0.01);  // or the test could not fail
  }
}

// A difference of just the size that matters is the one that is excluded most easily by mistake.
TEST(Sequential, ExcludesNoDifferenceThatIsThere) {
  const Found found = Simulate({5, 1}, {40, 1}, 1, 1);
  EXPECT_LE(found.excluded, Bound());
  EXPECT_LE(found.missed, Bound());
}

// `plan` promises a power of 0.8 for DetectableRatio() of the last look: earlier looks only add to it. 4 standard
// deviations of a share of 0.8 are 0.05 of 1,000 studies; it is below with a probability below 1e-4.
TEST(Sequential, FindsThePlannedDifferenceAndSavesRuns) {
  const SequentialDesign design = MakeSequentialDesign({5, 1}, {20, 1}, 0.05);
  const double deviation = std::sqrt(5.0 / 20);  // of the mean of 20 splits
  const double planned = DetectableRatio(20, design.levels.back()) * deviation;
  const Found found = Simulate({5, 1}, {20, 1}, planned, planned);
  const double slack = 4 * std::sqrt(0.8 * 0.2 / Studies());
  EXPECT_GE(found.different, 0.8 - slack);
  EXPECT_LE(found.different, 0.9);
  EXPECT_LE(found.runs, 0.85);
  // Of twice that difference nearly all is found, with half of the runs.
  const Found large = Simulate({5, 1}, {20, 1}, 2 * planned, planned);
  EXPECT_GE(large.different, 0.99);
  EXPECT_LE(large.runs, 0.55);
  // Without a difference, twice its size is excluded before the end.
  const Found none = Simulate({5, 1}, {20, 1}, 0, 2 * planned);
  EXPECT_GE(none.excluded, 0.9);
  EXPECT_LE(none.runs, 0.7);
}

}  // namespace
}  // namespace openset
