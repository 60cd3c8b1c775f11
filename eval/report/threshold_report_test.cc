#include "eval/report/threshold_report.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

using ::testing::HasSubstr;

ChosenThreshold Chosen() {
  ChosenThreshold chosen;
  chosen.rule = "known_accepted";
  chosen.target = 0.9;
  chosen.validation.threshold = 0.1;
  chosen.validation.total = {8, 2, 5};
  chosen.validation.known_accepted = CountedShare{0.9, 0.5, 0.99};
  return chosen;
}

TEST(ParseThresholdRule, Names) {
  EXPECT_EQ(*ParseThresholdRule("risk"), ThresholdRule::kRiskAtMost);
  EXPECT_TRUE(ReadsTarget(ThresholdRule::kRiskAtMost));
  EXPECT_FALSE(ReadsTarget(*ParseThresholdRule("youden_macro")));
  EXPECT_THAT(std::string(ParseThresholdRule("riks").status().message()), HasSubstr("unknown rule 'riks'"));
}

TEST(FormatThreshold, Json) {
  ChosenThreshold chosen = Chosen();
  auto json = nlohmann::json::parse(FormatThreshold(chosen, TextFormat::kJson));
  EXPECT_EQ(json["threshold"], 0.1);
  EXPECT_EQ(json["target"], 0.9);
  EXPECT_EQ(json["validation"]["n_known"], 10);
  EXPECT_EQ(json["validation"]["known_accepted"], 0.9);
  EXPECT_EQ(json["validation"]["intervals"]["known_accepted"][1], 0.99);
  EXPECT_FALSE(json["validation"].contains("risk"));  // undefined
  EXPECT_FALSE(json.contains("test"));
  chosen.validation.threshold = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(nlohmann::json::parse(FormatThreshold(chosen, TextFormat::kJson))["threshold"], "-inf");
}

TEST(FormatThreshold, Text) {
  ChosenThreshold chosen = Chosen();
  chosen.test = ThresholdReport();
  const std::string text = FormatThreshold(chosen, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("threshold: 0.10000000000000001 (a sample is rejected"));
  EXPECT_THAT(text, HasSubstr("chosen on the validation samples by known_accepted, target 0.9\n"));
  EXPECT_THAT(text, HasSubstr("known_accepted          90.00     -    -     -\n"));
  EXPECT_THAT(FormatThreshold(chosen, TextFormat::kCsv), HasSubstr("known_accepted,0.90000000000000002,,,\n"));
}

}  // namespace
}  // namespace openset
