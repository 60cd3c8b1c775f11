#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

TEST(FprAt95Tpr, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("unknown_detection.json", "detection")) {
    const Samples samples = DetectionSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Compute("fpr_at_95tpr {}", ranked), golden.at("expected/fpr95_id_positive")));
    EXPECT_TRUE(Agrees(Compute("fpr_at_95tpr_unknown_positive {}", ranked), golden.at("expected/fpr95_ood_positive")));
    EXPECT_TRUE(
        Agrees(Compute("fpr_at_95tpr { rule: NEAREST }", ranked), golden.at("expected/fpr95_id_positive_nearest")));
    EXPECT_TRUE(Agrees(Compute("fpr_at_95tpr_unknown_positive { rule: NEAREST }", ranked),
                       golden.at("expected/fpr95_ood_positive_nearest")));
    EXPECT_TRUE(Agrees(Compute("fpr_at_95tpr { rule: NEAREST_WALK }", ranked),
                       golden.at("expected/fpr95_id_positive_merge_walk")));
    EXPECT_TRUE(Agrees(Compute("fpr_at_95tpr { rule: STRICT_QUANTILE }", ranked),
                       golden.at("expected/fpr95_id_positive_strict_quantile")));
  }
}

// Blocks with the same counts lie on a line, of which scikit-learn's roc_curve keeps only the ends: the point at 95 %
// is removed, and the next one has a rate of 1. If the line bends there, the point stays.
TEST(FprAt95Tpr, MissesThePointThatScikitLearnDrops) {
  Samples samples;
  for (int block = 0; block < 20; ++block) {
    for (int copy = 0; copy < 5; ++copy) {
      for (const int32_t label : {0, kUnknownLabel}) {
        samples.unknown_score.push_back(block);
        samples.label.push_back(label);
        samples.prediction.push_back(0);
      }
    }
  }
  EXPECT_TRUE(Agrees(Compute("fpr_at_95tpr_unknown_positive {}", RankedInput(samples.Input())), 0.95));
  EXPECT_TRUE(Agrees(
      Compute("fpr_at_95tpr_unknown_positive { rule: FIRST_REACHING_CORNERS }", RankedInput(samples.Input())), 1.0));
  samples.unknown_score[0] = 0.5;  // of the last block: the line bends after 95 %
  EXPECT_TRUE(Agrees(
      Compute("fpr_at_95tpr_unknown_positive { rule: FIRST_REACHING_CORNERS }", RankedInput(samples.Input())), 0.95));
}

// 2,000 scores without ties and one known sample at each step of 0.0005: thresholds with 94.95 % to 95.05 % exist.
TEST(FprAt95TprOnGrid, IsTheMeanOverThresholdsCountedOneByOne) {
  Samples samples;
  RandomStream random(4, "grid");
  for (int i = 0; i < 2000; ++i) {
    samples.unknown_score.push_back(random.Uniform() + (i % 2) * 0.3);
    samples.label.push_back(i % 2 == 0 ? 0 : kUnknownLabel);
    samples.prediction.push_back(0);
  }
  const double low = -1.25;  // in confidence
  const double high = 0.05;
  double sum = 0;
  int thresholds = 0;
  for (int i = 0; i < 100000; ++i) {
    const double threshold = low + i * ((high - low) / 100000);
    if (threshold < -1 || threshold > -0.9) continue;  // 95 % of the known lie around 0.95
    int hits = 0;
    int alarms = 0;
    for (int s = 0; s < 2000; ++s) {
      if (s % 2 == 0) hits += -samples.unknown_score[s] >= threshold;
      if (s % 2 == 1) alarms += -samples.unknown_score[s] > threshold;
    }
    if (hits < 949.5 || hits > 950.5) continue;
    sum += alarms / 1000.0;
    ++thresholds;
  }
  ASSERT_GT(thresholds, 0);
  const RankedInput ranked(samples.Input());
  EXPECT_TRUE(Agrees(
      Compute(absl::StrCat("fpr_at_95tpr { rule: GRID_MEAN grid_low: ", low, " grid_high: ", high, " }"), ranked),
      sum / thresholds));
  EXPECT_TRUE(
      Agrees(Compute(absl::StrCat("fpr_at_95tpr { rule: GRID_MEAN grid_low: ", 5, " grid_high: ", 6, " }"), ranked),
             std::nullopt));
}

// Twenty known samples, of which 19 have the confidence 1 and one has none at all, and an unknown one of confidence
// 0.5.
TEST(FprAt95TprOnGrid, NeedsAFiniteRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  Samples samples;
  samples.unknown_score.assign(20, -1);
  samples.unknown_score[0] = infinity;
  samples.unknown_score.push_back(-0.5);
  samples.label.assign(20, 0);
  samples.label.push_back(kUnknownLabel);
  const RankedInput ranked(samples.Input());
  const MetricResult result = Compute("fpr_at_95tpr { rule: GRID_MEAN }", ranked);
  EXPECT_FALSE(result.value.has_value());
  EXPECT_THAT(result.absent_reason, HasSubstr("the grid has no finite range"));
  // Half of the thresholds from 0 to 1 lie below 0.5.
  EXPECT_TRUE(Agrees(
      Compute(absl::StrCat("fpr_at_95tpr { rule: GRID_MEAN grid_low: ", 0, " grid_high: ", 1, " }"), ranked), 0.5));
  samples.unknown_score[0] = 1e308;
  samples.unknown_score[1] = -1e308;
  EXPECT_FALSE(Compute("fpr_at_95tpr { rule: GRID_MEAN }", RankedInput(samples.Input())).value.has_value());
}

TEST(FprAtTpr, AgreesWithScikitLearnAtAnyLevel) {
  for (const GoldenCase& golden : ReadGolden("selective.json", "cases")) {
    SCOPED_TRACE(golden.name);
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    for (const auto& [level, name] : {std::pair(0.5, "0.5"), std::pair(0.8, "0.8"), std::pair(0.95, "0.95")}) {
      const std::string path = std::string("open_set/fpr_at_") + name;
      EXPECT_TRUE(Agrees(Compute(absl::StrCat("fpr_at_tpr { tpr: ", level, " }"), ranked), golden.at(path + "_known")));
      EXPECT_TRUE(Agrees(Compute(absl::StrCat("fpr_at_tpr { positive: UNKNOWN tpr: ", level, " }"), ranked),
                         golden.at(path + "_unknown")));
    }
    EXPECT_EQ(Compute("fpr_at_tpr { tpr: 0.95 }", ranked).value, Compute("fpr_at_95tpr {}", ranked).value);
    EXPECT_TRUE(Agrees(Compute("ccr_at_fpr { fpr: 0 }", ranked), golden.at("open_set/ccr_at_0.0")));
    EXPECT_TRUE(Agrees(Compute("ccr_at_fpr { fpr: 0.1 }", ranked), golden.at("open_set/ccr_at_0.1")));
    EXPECT_TRUE(Agrees(Compute("ccr_at_fpr { fpr: 0.5 }", ranked), golden.at("open_set/ccr_at_0.5")));
  }
}

// Its ccr_fpr() for the same arrays. One unknown sample fewer is accepted than by the paper's rule, where it is exact.
TEST(CcrAtFpr, BelowTheRankIsOpenOods) {
  for (const GoldenCase& golden : ReadGolden("conventions.json", "cases")) {
    SCOPED_TRACE(golden.name);
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    for (const char* level : {"0.01", "0.1", "0.5"}) {
      const std::string text = absl::StrCat("ccr_at_fpr { fpr: ", level);
      const MetricResult below = Compute(text + " rule: BELOW_RANK }", ranked);
      EXPECT_TRUE(Agrees(below, golden.at(absl::StrCat("printed/openood/ccr_fpr ", level)))) << level;
      EXPECT_LE(*below.value, *Compute(text + " }", ranked).value);
    }
    EXPECT_THAT(Compute("ccr_at_fpr { fpr: 0 rule: BELOW_RANK }", ranked).absent_reason, HasSubstr("rank 0"));
  }
}

}  // namespace
}  // namespace openset
