#include "eval/statistics/jackknife.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

// Known samples with scores N(0, 1) and unknown ones with N(1, 1), of which many are equal after rounding to tenths;
// every third known sample is classified wrongly.
Samples Drawn(int known, int unknown, RandomStream* random) {
  Samples samples;
  samples.num_classes = 2;
  for (int i = 0; i < known + unknown; ++i) {
    samples.label.push_back(i < known ? 0 : -1);
    samples.prediction.push_back(i % 3 == 0);
    samples.unknown_score.push_back(static_cast<int>(10 * (random->Normal() + (i >= known))) / 10.0);
  }
  return samples;
}

// The definition: the mean over all pairs of samples outside of the block.
double Without(const Samples& samples, PairStatistic statistic, const std::vector<int>& block, int left_out) {
  double pairs = 0, sum = 0;
  for (size_t k = 0; k < samples.label.size(); ++k) {
    for (size_t u = 0; u < samples.label.size(); ++u) {
      if (samples.label[k] < 0 || samples.label[u] >= 0 || block[k] == left_out || block[u] == left_out) continue;
      ++pairs;
      if (statistic == PairStatistic::kOpenAuc && samples.prediction[k] != samples.label[k]) continue;
      sum += samples.unknown_score[u] > samples.unknown_score[k]    ? 1.0
             : samples.unknown_score[u] == samples.unknown_score[k] ? 0.5
                                                                    : 0.0;
    }
  }
  return sum / pairs;
}

TEST(Jackknife, HasTheStatisticWithoutEachBlock) {
  RandomStream random(1, "scores");
  const Samples samples = Drawn(57, 33, &random);
  const RankedInput ranked(samples.Input());
  const std::vector<int> block = JackknifeBlocksOf(ranked.input());
  for (const PairStatistic statistic : {PairStatistic::kAuroc, PairStatistic::kOpenAuc}) {
    const std::vector<double> without = WithoutBlocks(ranked, statistic, block);
    ASSERT_THAT(without, SizeIs(kJackknifeBlocks));
    for (int b = 0; b < kJackknifeBlocks; ++b) {
      EXPECT_NEAR(without[b], Without(samples, statistic, block, b), 1e-12) << b;
    }
  }
}

TEST(Jackknife, LeavesOutWhatHasNoWeight) {
  RandomStream random(2, "scores");
  const Samples samples = Drawn(60, 40, &random);
  RankedInput part(samples.Input());
  const std::vector<int> block = JackknifeBlocksOf(part.input());
  std::vector<uint32_t> weight(100, 1);
  std::vector<int> block_of_part = block;
  for (int i = 60; i < 80; ++i) {
    weight[i] = 0;
    block_of_part[i] = 0;  // left out each time below
  }
  part.Reweight(weight);
  Samples others = samples;
  others.unknown_score.erase(others.unknown_score.begin() + 60, others.unknown_score.begin() + 80);
  others.label.erase(others.label.begin() + 60, others.label.begin() + 80);
  others.prediction.erase(others.prediction.begin() + 60, others.prediction.begin() + 80);
  block_of_part.erase(block_of_part.begin() + 60, block_of_part.begin() + 80);
  const std::vector<double> without = WithoutBlocks(part, PairStatistic::kAuroc, block);
  ASSERT_THAT(without, SizeIs(kJackknifeBlocks));
  for (int b = 0; b < kJackknifeBlocks; ++b) {
    EXPECT_NEAR(without[b], Without(others, PairStatistic::kAuroc, block_of_part, b), 1e-12) << b;
  }
}

TEST(Jackknife, DealsEachKindOfSamplesEvenly) {
  RandomStream random(3, "scores");
  Samples samples = Drawn(100, 60, &random);
  for (int i = 0; i < 160; ++i) samples.group.push_back(i >= 120);  // 20 unknown samples of group 0, 40 of group 1
  const std::vector<int> block = JackknifeBlocksOf(samples.Input());
  std::map<int, std::vector<int>> counts;  // of the known ones, of both groups
  for (int part = 0; part < 3; ++part) counts[part].resize(kJackknifeBlocks);
  for (int i = 0; i < 160; ++i) ++counts[i < 100 ? 0 : i < 120 ? 1 : 2][block[i]];
  EXPECT_THAT(counts[0], Each(5));
  EXPECT_THAT(counts[1], Each(1));
  EXPECT_THAT(counts[2], Each(2));
  std::reverse(samples.unknown_score.begin(), samples.unknown_score.end());  // another score of the same samples
  EXPECT_EQ(JackknifeBlocksOf(samples.Input()), block);
}

TEST(Jackknife, KeepsClustersWhole) {
  RandomStream random(4, "scores");
  Samples samples = Drawn(100, 100, &random);
  for (int i = 0; i < 200; ++i) samples.cluster.push_back(1000 + i % 40);
  const std::vector<int> block = JackknifeBlocksOf(samples.Input());
  std::map<int, std::set<int64_t>> clusters;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(block[i], block[i % 40]);
    clusters[block[i]].insert(samples.cluster[i]);
  }
  EXPECT_THAT(clusters, SizeIs(kJackknifeBlocks));
  for (const auto& [number, of_block] : clusters) EXPECT_THAT(of_block, SizeIs(2));
}

TEST(Jackknife, HasNoValuesOfFewSamples) {
  RandomStream random(5, "scores");
  const Samples samples = Drawn(100, kJackknifeBlocks - 1, &random);
  const RankedInput ranked(samples.Input());
  EXPECT_THAT(WithoutBlocks(ranked, PairStatistic::kAuroc, JackknifeBlocksOf(ranked.input())), IsEmpty());
}

// 1, 2 and 6 have the variance 7, so that their mean has 7 / 3. The means without each are 4, 3.5 and 1.5.
TEST(Jackknife, IsTheVarianceOfAMean) {
  EXPECT_NEAR(JackknifeCovariance({4, 3.5, 1.5}, {4, 3.5, 1.5}), 7.0 / 3, 1e-12);
  EXPECT_NEAR(JackknifeCovariance({4, 3.5, 1.5}, {-4, -3.5, -1.5}), -7.0 / 3, 1e-12);
}

// Over 300 draws of 300 known and 200 unknown samples, of an AUROC and of the difference of two scores that share half
// of their noise. One jackknife variance of 20 blocks has a relative standard error of about sqrt(2 / 19), the mean of
// 300 of 0.019; it is off by 10 % with a probability of about 1e-7. The seed is fixed.
TEST(Jackknife, AgreesWithDeLong) {
  RandomStream random(6, "scores");
  double jackknife = 0, delong = 0, delong_b = 0, jackknife_paired = 0, delong_paired = 0;
  for (int draw = 0; draw < 300; ++draw) {
    const Samples a = Drawn(300, 200, &random);
    Samples b = a;
    for (size_t i = 0; i < b.label.size(); ++i) b.unknown_score[i] += random.Normal();
    const RankedInput of_a(a.Input()), of_b(b.Input());
    const std::vector<int> block = JackknifeBlocksOf(of_a.input());
    std::vector<double> without = WithoutBlocks(of_a, PairStatistic::kAuroc, block);
    jackknife += JackknifeCovariance(without, without);
    const double error = DeLongInterval(of_a, PairStatistic::kAuroc)->standard_error;
    delong += error * error;
    const double error_b = DeLongInterval(of_b, PairStatistic::kAuroc)->standard_error;
    delong_b += error_b * error_b;
    const std::vector<double> without_b = WithoutBlocks(of_b, PairStatistic::kAuroc, block);
    for (int i = 0; i < kJackknifeBlocks; ++i) without[i] -= without_b[i];
    jackknife_paired += JackknifeCovariance(without, without);
    const double paired = DeLongPaired(of_a, of_b, PairStatistic::kAuroc)->standard_error;
    delong_paired += paired * paired;
  }
  EXPECT_NEAR(jackknife / delong, 1, 0.1);
  EXPECT_NEAR(jackknife_paired / delong_paired, 1, 0.1);
  EXPECT_GT(delong + delong_b, 2 * delong_paired);  // so that unpaired values would be found out
}

}  // namespace
}  // namespace openset
