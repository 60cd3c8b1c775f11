#include "tools/evaluation/parse_specs.h"

#include <string>
#include <vector>

#include "eval/metrics/metric_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseMetrics, NamesAndFields) {
  const auto metrics =
      ParseMetrics("--metrics", "auroc, partial_openauc { max_ofpr: 0.1 },early = partial_openauc{max_ofpr: 0.05}");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_EQ(metrics->size(), 3);
  EXPECT_EQ(MetricName((*metrics)[0]), "auroc");
  EXPECT_EQ((*metrics)[1].partial_openauc().max_ofpr(), 0.1);
  EXPECT_EQ(MetricName((*metrics)[2]), "early");
  EXPECT_EQ((*metrics)[2].partial_openauc().max_ofpr(), 0.05);
  EXPECT_GT(ParseMetrics("--metrics", " ")->size(), 25);
}

TEST(ParseMetrics, AcceptsSynonyms) {
  const auto metrics = ParseMetrics("--metrics", "AUROC,fpr95, Open-AUC, ECE { bins: 3 }, aurc, EAURC");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  std::vector<std::string> names;
  for (const MetricSpec& metric : *metrics) names.push_back(MetricName(metric));
  EXPECT_THAT(names, ElementsAre("auroc", "fpr_at_95tpr", "openauc", "ece", "aurc", "eaurc"));
  EXPECT_EQ((*metrics)[3].ece().bins(), 3);
}

// OpenOOD's four.
TEST(ParseMetrics, LevelsMakeNames) {
  const auto metrics =
      ParseMetrics("--metrics", "ccr_at_fpr { fpr: 0.1 }, ccr_at_fpr { fpr: 0.01 }, ccr_at_0.001fpr, ccr_at_0.0001fpr");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  std::vector<std::string> names;
  for (const MetricSpec& metric : *metrics) names.push_back(MetricName(metric));
  EXPECT_THAT(names, ElementsAre("ccr_at_0.1fpr", "ccr_at_0.01fpr", "ccr_at_0.001fpr", "ccr_at_0.0001fpr"));
  EXPECT_EQ((*metrics)[3].ccr_at_fpr().fpr(), 0.0001);
  EXPECT_EQ(MeantMetric("ccr_at_0.01fpr"), "ccr_at_0.01fpr");
}

TEST(ParseMetrics, Refuses) {
  const auto error = [](const char* text) { return std::string(ParseMetrics("--metrics", text).status().message()); };
  EXPECT_THAT(error("auroq"), HasSubstr("--metrics: unknown metric 'auroq'; did you mean 'auroc'?"));
  EXPECT_THAT(error("auroc,"), HasSubstr("--metrics: unknown metric ''"));
  EXPECT_THAT(error("ece { bin: 3 }"), HasSubstr("unknown field 'bin'; did you mean 'bins'?"));
  EXPECT_THAT(error("ece { bins: 0 }"), HasSubstr("ece.bins: must be at least 1 (is 0)"));
  EXPECT_THAT(error("ece {"), HasSubstr("--metrics:"));
  EXPECT_THAT(error("auroc } { auroc"), HasSubstr("--metrics:"));
  EXPECT_THAT(error("ece, ece { bins: 3 }"),
              HasSubstr("there is another metric named 'ece'; where they differ in their settings, give "
                        "one a name"));
  EXPECT_THAT(error("ccr_at_0.1fpr, ccr_at_fpr"), HasSubstr("there is another metric named 'ccr_at_0.1fpr'"));
}

TEST(ParseScore, NamesAndFields) {
  EXPECT_TRUE(ParseScore("--score", "max_logit")->has_max_logit());
  EXPECT_TRUE(ParseScore("--score", "MLS")->has_max_logit());
  EXPECT_TRUE(ParseScore("--score", "maxlogit")->has_max_logit());
  EXPECT_TRUE(ParseScore("--score", "msp")->has_max_softmax());
  EXPECT_TRUE(ParseScore("--score", "OpenMax")->has_openmax());
  EXPECT_EQ(ParseScore("--score", "EBO { temperature: 2 }")->energy().temperature(), 2);
  EXPECT_EQ(ParseScore("--score", "energy { temperature: 2 }")->energy().temperature(), 2);
  EXPECT_THAT(std::string(ParseScore("--score", "energy { temperature: 0 }").status().message()),
              HasSubstr("energy.temperature: must be above 0 (is 0)"));
  EXPECT_THAT(std::string(ParseScore("--score", "enrgy").status().message()),
              HasSubstr("--score: unknown score 'enrgy'; did you mean 'energy'?"));
}

}  // namespace
}  // namespace openset
