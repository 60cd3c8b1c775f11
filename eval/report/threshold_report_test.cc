#include "eval/report/threshold_report.h"

#include <limits>

#include "core/testing/status_matchers.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

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
  EXPECT_THAT(text, HasSubstr("threshold: 0.1 (a sample is rejected"));
  EXPECT_THAT(text, HasSubstr("chosen on the validation samples by known_accepted, target 0.9\n"));
  EXPECT_THAT(text, HasSubstr("\nno guarantee: the threshold was chosen for these validation samples"));
  EXPECT_THAT(text, ContainsRegex("known_accepted     known samples that are accepted +90.00     -    -     -\n"));
  EXPECT_THAT(FormatThreshold(chosen, TextFormat::kCsv), HasSubstr("known_accepted,0.9,,,\n"));
  EXPECT_THAT(text, HasSubstr("shares (Clopper-Pearson)"));
  chosen.test->clusters = 150;
  EXPECT_THAT(FormatThreshold(chosen, TextFormat::kText),
              AllOf(HasSubstr("unknown samples in 150 clusters\n"),
                    HasSubstr("shares (of clusters: Clopper-Pearson by Korn and Graubard)")));
}

// With 100 known validation and 400 known test samples, 3 standard errors of a share of 90 % are
// 3 sqrt(0.9 * 0.1 * (1 / 100 + 1 / 400)) = 10.06 %.
TEST(GuaranteeHint, IfTheTestSamplesContradictIt) {
  ChosenThreshold chosen = Chosen();
  chosen.rule = "conformal";
  chosen.validation.total = {80, 20, 50};
  EXPECT_EQ(GuaranteeHint(chosen), "");
  chosen.test = ThresholdReport();
  chosen.test->total = {300, 100, 0};
  chosen.test->known_accepted = CountedShare{0.8, 0.76, 0.84};
  EXPECT_EQ(GuaranteeHint(chosen), "");
  chosen.test->known_accepted = CountedShare{0.79, 0.75, 0.83};
  EXPECT_THAT(GuaranteeHint(chosen), HasSubstr("79.00 % of the known test samples are accepted (95 % interval to "
                                               "83.00 %), not 90 %, against the guarantee: did validation samples"));
  chosen.rule = "known_accepted";
  EXPECT_EQ(GuaranteeHint(chosen), "");
  chosen.rule = "risk_guaranteed";
  chosen.target = 0.1;
  chosen.test->risk = CountedShare{0.12, 0.09, 0.15};
  EXPECT_EQ(GuaranteeHint(chosen), "");
  chosen.test->risk = CountedShare{0.2, 0.16, 0.25};
  EXPECT_THAT(GuaranteeHint(chosen), HasSubstr("20.00 % of the accepted test samples are wrong or unknown (95 % "
                                               "interval from 16.00 %), not at most 10 %"));
}

TEST(GuaranteeText, SaysWhatHoldsAndWhen) {
  ChosenThreshold chosen = Chosen();  // 10 known and 5 unknown validation samples
  EXPECT_THAT(GuaranteeText(chosen), HasSubstr("--rule=conformal"));
  chosen.rule = "conformal";
  EXPECT_THAT(GuaranteeText(chosen),
              AllOf(HasSubstr("a new known sample is accepted with a probability of at least 0.9, over draws of it and "
                              "of the 10 known validation samples; if these are independent draws"),
                    HasSubstr("not about each class")));
  chosen.rule = "risk_guaranteed";
  chosen.delta = 0.05;
  EXPECT_THAT(
      GuaranteeText(chosen),
      AllOf(HasSubstr("with a probability of at least 0.95 over draws of the 15 validation samples, at most 0.9 "
                      "of the new samples that are accepted are wrong or unknown"),
            HasSubstr("the same share of unknown samples (5 of 15 here)"), Not(HasSubstr("There are no"))));
  chosen.validation.total.unknown = 0;
  EXPECT_THAT(GuaranteeText(chosen), HasSubstr("so that it holds only without unknown ones"));
  chosen.has_clusters = true;
  EXPECT_THAT(GuaranteeText(chosen), HasSubstr("no guarantee: the validation samples belong together in clusters"));
  EXPECT_EQ(nlohmann::json::parse(FormatThreshold(chosen, TextFormat::kJson))["guarantee"], GuaranteeText(chosen));
}

}  // namespace
}  // namespace openset
