// Why ComparePairedRuns() uses the closed form of the hierarchical bootstrap's standard error, with Student's t:
// drawing gives the same standard error, and the percentile interval of the draws finds winners where there are none.
//
// Differences of runs: an effect of the split (standard deviation 0.02) plus noise of the seed (0.01), both normal.
// Both include the noise of test samples: samples are drawn anew with the split or are the same for all its seeds, so a
// third level that draws them again would count it twice. Seeds are fixed, so a test that passes once always passes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "eval/statistics/intervals.h"
#include "eval/statistics/paired_tests.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using Runs = std::vector<std::vector<double>>;  // of each split, of each seed

Runs Draw(int splits, int seeds, double mean, double split_deviation, RandomStream* random) {
  Runs runs(splits);
  for (std::vector<double>& split : runs) {
    const double effect = mean + split_deviation * random->Normal();
    for (int seed = 0; seed < seeds; ++seed) split.push_back(effect + 0.01 * random->Normal());
  }
  return runs;
}

constexpr int kStudies = 400;

Runs StudyWithoutDifference(int splits, int seeds, int study) {
  RandomStream random(29, absl::StrCat("null/", splits, "/", study));
  return Draw(splits, seeds, 0, 0.02, &random);
}

PairedTest ClosedForm(const Runs& runs) {
  std::vector<double> differences;
  std::vector<int> split;
  for (size_t s = 0; s < runs.size(); ++s) {
    for (const double value : runs[s]) {
      differences.push_back(value);
      split.push_back(static_cast<int>(s));
    }
  }
  return ComparePairedRuns(differences, std::vector<double>(differences.size(), 0.0), split).value();
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Variance(const std::vector<double>& values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

// A mean of splits drawn with replacement, of seeds drawn with replacement within them. `split_scale` and `seed_scale`
// stretch the deviations from the means at each level.
double Replicate(const Runs& runs, double split_scale, double seed_scale, RandomStream* random) {
  std::vector<double> means;
  for (const std::vector<double>& split : runs) means.push_back(Mean(split));
  const double mean = Mean(means);
  double sum = 0;
  for (size_t s = 0; s < runs.size(); ++s) {
    const size_t drawn = random->Below(runs.size());
    double residual = 0;
    for (size_t i = 0; i < runs[drawn].size(); ++i) {
      residual += runs[drawn][random->Below(runs[drawn].size())] - means[drawn];
    }
    sum += mean + split_scale * (means[drawn] - mean) + seed_scale * residual / static_cast<double>(runs[drawn].size());
  }
  return sum / static_cast<double>(runs.size());
}

// Of 100,000 replicates, whose standard deviation is off by 0.22 %: within 1 %, except with a chance of 1e-5 each.
// Scales as Davison and Hinkley (1997, 3.8) have them: both levels together vary as the data do.
TEST(HierarchicalBootstrap, HasTheStandardErrorOfTheClosedForm) {
  for (const double split_deviation : {0.02, 0.0}) {
    for (const int splits : {2, 5}) {
      RandomStream random(23, absl::StrCat("standard error/", splits, "/", split_deviation));
      const Runs runs = Draw(splits, 4, 0.01, split_deviation, &random);
      std::vector<double> means;
      double of_seeds = 0;  // mean of the variances of a split's mean over its seeds
      for (const std::vector<double>& split : runs) {
        means.push_back(Mean(split));
        of_seeds += Variance(split) / 4 / splits;
      }
      const double of_splits = std::max(0.0, Variance(means) - of_seeds);
      const double split_scale = std::sqrt(of_splits / (Variance(means) * (splits - 1) / splits));
      const double seed_scale = std::sqrt(4.0 / 3);
      std::vector<double> replicates;
      for (int r = 0; r < 100000; ++r) replicates.push_back(Replicate(runs, split_scale, seed_scale, &random));
      const double closed = ClosedForm(runs).standard_error;
      EXPECT_NEAR(std::sqrt(Variance(replicates)) / closed, 1, 0.01) << splits << " splits, " << split_deviation;
    }
  }
}

// The share of 400 studies without a difference in which its 95 % interval leaves out 0 is truly at most 5 %, and above
// 8.3 % with a chance of 0.1 %. Here it is 0.5 % with 2 splits of 5 seeds and 5 % with 5 of 3.
TEST(ClosedForm, FindsFewDifferencesWhereThereAreNone) {
  for (const auto& [splits, seeds] : {std::pair(2, 5), {5, 3}}) {
    int found = 0;
    for (int study = 0; study < kStudies; ++study) {
      const PairedTest test = ClosedForm(StudyWithoutDifference(splits, seeds, study));
      found += test.low > 0 || test.high < 0;
    }
    RecordProperty(absl::StrCat("closed form, ", splits, " splits"), found);
    EXPECT_LE(found, 0.083 * kStudies) << splits << " splits";
  }
}

// The same share of the percentile interval of 400 replicates is 37 % and 18 %: with these as true shares, below 22 %
// and 6 % with chances below 1e-9. This tests a method that we don't use, so only the slow form, with
// OPENSET_PERCENTILES, does it.
TEST(HierarchicalBootstrap, ItsPercentilesAreTooNarrow) {
  if (std::getenv("OPENSET_PERCENTILES") == nullptr) GTEST_SKIP() << "only in the slow form";
  for (const auto& [splits, seeds, least] : {std::tuple<int, int, double>{2, 5, 0.22}, {5, 3, 0.06}}) {
    int found = 0;
    for (int study = 0; study < kStudies; ++study) {
      const Runs runs = StudyWithoutDifference(splits, seeds, study);
      RandomStream random(29, absl::StrCat("draws/", splits, "/", study));
      std::vector<double> replicates;
      for (int r = 0; r < 400; ++r) replicates.push_back(Replicate(runs, 1, 1, &random));
      std::sort(replicates.begin(), replicates.end());
      found += SortedQuantile(replicates, 0.025) > 0 || SortedQuantile(replicates, 0.975) < 0;
    }
    RecordProperty(absl::StrCat("percentiles, ", splits, " splits"), found);
    EXPECT_GE(found, least * kStudies) << splits << " splits";
  }
}

}  // namespace
}  // namespace openset
