#include "eval/metrics/openauc.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "eval/metrics/auroc.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(OpenAuc, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(OpenAuc(ranked), golden.at("expected/openauc")));
    EXPECT_TRUE(Agrees(OpenAuc(ranked, TiedPairRule::NOTHING), golden.at("expected/openauc_strict")));
  }
}

TEST(OpenAuc, WithTheReleasedMaskAgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(
        Agrees(Compute("openauc { mask: EPSILON_DOUBLE }", ranked), golden.at("expected/openauc_epsilon_double")));
    EXPECT_TRUE(
        Agrees(Compute("openauc { mask: EPSILON_FLOAT }", ranked), golden.at("expected/openauc_epsilon_float")));
  }
}

TEST(PartialOpenAuc, OverTheFullRangeIsOpenAuc) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Compute("partial_openauc { min_ofpr: 0 max_ofpr: 1 }", ranked), golden.at("expected/openauc")))
        << samples.name;
  }
}

TEST(PartialOpenAuc, PartsAddUp) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    if (!golden.at("expected/openauc").has_value()) continue;
    const auto part = [&ranked](double low, double high) {
      return (high - low) *
             *Compute(absl::StrCat("partial_openauc { min_ofpr: ", low, " max_ofpr: ", high, " }"), ranked).value;
    };
    EXPECT_NEAR(part(0, 0.17) + part(0.17, 0.6) + part(0.6, 1), *golden.at("expected/openauc"), 1e-12) << samples.name;
  }
}

TEST(PartialOpenAuc, IsTheMeanHeightOfTheCurve) {
  // Points (OFPR, COTPR): (0, 1/2) at 0.1; a tie of an unknown and a correct sample raises both to (1/2, 1); (1, 1).
  Samples samples;
  samples.unknown_score = {0.1, 0.4, 0.4, 0.9};
  samples.label = {0, 0, -1, -1};
  samples.prediction = {0, 0, 0, 0};
  const RankedInput ranked(samples.Input());
  EXPECT_TRUE(Agrees(Compute("partial_openauc { min_ofpr: 0 max_ofpr: 0.25 }", ranked), (0.5 + 0.75) / 2));
  EXPECT_TRUE(Agrees(Compute("partial_openauc { min_ofpr: 0.25 max_ofpr: 0.75 }", ranked), ((0.75 + 1) / 2 + 1) / 2));
  EXPECT_TRUE(Agrees(Compute("partial_openauc { min_ofpr: 0.5 max_ofpr: 1 }", ranked), 1.0));
}

TEST(OpenAuc, IsAtMostAurocAndAccuracy) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    if (!OpenAuc(ranked).value.has_value()) continue;
    EXPECT_LE(*OpenAuc(ranked).value, std::min(*Auroc(ranked).value, *Compute("accuracy {}", ranked).value))
        << samples.name;
  }
}

TEST(OpenAuc, CountsPairsOfCorrectSamples) {
  Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.1, 0.2, 0.4, 0.4, 0.3};
  samples.label = {0, 0, 1, -1, -1};
  samples.prediction = {0, 1, 1, 0, 0};
  // Correct: 0.1 and 0.4. The unknown 0.4 is above 0.1 and ties 0.4; the unknown 0.3 is above 0.1.
  const RankedInput ranked(samples.Input());
  EXPECT_TRUE(Agrees(OpenAuc(ranked), (1 + 0.5 + 1) / (3 * 2)));
  EXPECT_TRUE(Agrees(OpenAuc(ranked, TiedPairRule::NOTHING), (1 + 0 + 1) / (3.0 * 2)));
}

}  // namespace
}  // namespace openset
