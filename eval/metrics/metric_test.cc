#include "eval/metrics/metric.h"

#include <utility>

#include "core/testing/parsed.h"

namespace openset {
namespace {

MetricSpec Parse(const char* text) { return Parsed<MetricSpec>(text); }

TEST(LevelName, ContainsTheLevelAndIdentifiesTheMetric) {
  for (const auto& [text, name] : {
           std::pair("ccr_at_fpr { fpr: 0.1 }", "ccr_at_0.1fpr"),
           std::pair("ccr_at_fpr { fpr: 0.0001 }", "ccr_at_0.0001fpr"),
           std::pair("ccr_at_fpr { fpr: 0 }", "ccr_at_0fpr"),
           std::pair("fpr_at_tpr { tpr: 0.8 }", "fpr_at_0.8tpr"),
           std::pair("fpr_at_tpr { tpr: 1 positive: UNKNOWN }", "fpr_at_1tpr_unknown_positive"),
           std::pair("risk_at_coverage { coverage: 0.9 }", "risk_at_0.9coverage"),
           std::pair("risk_at_coverage { coverage: 0.9 over: POOL }", "pooled_risk_at_0.9coverage"),
           std::pair("coverage_at_risk { risk: 0.02 }", "coverage_at_0.02risk"),
           std::pair("coverage_at_risk { risk: 0.02 over: POOL }", "pooled_coverage_at_0.02risk"),
       }) {
    EXPECT_EQ(LevelName(Parse(text)), name);
    ASSERT_TRUE(MetricOfLevelName(name).has_value()) << name;
    EXPECT_EQ(MetricOfLevelName(name)->SerializeAsString(), Parse(text).SerializeAsString()) << name;
  }
}

TEST(LevelName, IsThatOfTheDefaultToo) {
  EXPECT_EQ(LevelName(Parse("ccr_at_fpr {}")), "ccr_at_0.1fpr");
  EXPECT_EQ(LevelName(Parse("coverage_at_risk {}")), "coverage_at_0.05risk");
}

TEST(LevelName, TellsLevelsApartThatDifferInTheLastBit) {
  const MetricSpec tenth = Parse("ccr_at_fpr { fpr: 0.1 }"), next = Parse("ccr_at_fpr { fpr: 0.10000000000000002 }");
  EXPECT_NE(LevelName(tenth), LevelName(next));
  EXPECT_EQ(MetricOfLevelName(LevelName(next))->ccr_at_fpr().fpr(), next.ccr_at_fpr().fpr());
}

TEST(LevelName, OtherMetricsHaveNone) {
  EXPECT_EQ(LevelName(Parse("auroc {}")), "");
  EXPECT_EQ(LevelName(MetricSpec()), "");
  for (const char* name : {"auroc", "fpr_at_95tpr", "ccr_at_fpr", "ccr_at_2fpr", "ccr_at_xfpr", "ccr_at_0.1tpr", ""}) {
    EXPECT_FALSE(MetricOfLevelName(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace openset
