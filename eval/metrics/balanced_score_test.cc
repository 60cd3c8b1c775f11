#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(BalancedScore, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    for (const auto& [rule, denominator] :
         {std::pair("present", "PRESENT"), std::pair("touched", "TOUCHED"), std::pair("all", "ALL")}) {
      for (const std::string name : {"inner", "outer", "halfpoint", "overall"}) {
        if (name == "outer" && ranked.total().unknown == 0) continue;  // see OuterNeedsUnknownSamples
        const std::string path = absl::StrCat("balanced_at_threshold/", rule, "/", name);
        EXPECT_TRUE(Agrees(Compute(absl::StrFormat("%s { threshold: %.17g denominator: %s }", name,
                                                   *golden.at("threshold"), denominator),
                                   ranked),
                           golden.at(path)))
            << samples.name << ", " << path;
      }
    }
  }
}

TEST(BalancedScore, DividesByTheClassesOfTheRule) {
  // Class 0 right, class 1 rejected, class 2 absent; the unknown sample is accepted as class 0.
  Samples samples;
  samples.num_classes = 3;
  samples.label = {0, 1, -1};
  samples.prediction = {0, 1, 0};
  samples.unknown_score = {0.1, 0.8, 0.3};
  const RankedInput ranked(samples.Input());
  EXPECT_TRUE(Agrees(Compute("inner { threshold: 0.5 }", ranked), (1 + 1) / 2.0));
  EXPECT_TRUE(Agrees(Compute("outer { threshold: 0.5 }", ranked), (0.5 + 0) / 2.0));
  EXPECT_TRUE(Agrees(Compute("halfpoint { threshold: 0.5 }", ranked), (1 + 0) / 2.0));
  EXPECT_TRUE(Agrees(Compute("halfpoint { threshold: 0.5 denominator: TOUCHED }", ranked), (1 + 0 + 0) / 3.0));
  EXPECT_TRUE(Agrees(Compute("halfpoint { threshold: 0.5 denominator: ALL }", ranked), (1 + 0 + 0) / 4.0));
  EXPECT_TRUE(Agrees(Compute("overall { threshold: 0.5 }", ranked), (1 + 0 + 0) / 3.0));
}

// The share of accepted known samples alone would look like a perfect detection.
TEST(BalancedScore, OuterNeedsUnknownSamples) {
  Samples samples;
  samples.num_classes = 2;
  samples.label = {0, 1};
  samples.prediction = {0, 1};
  samples.unknown_score = {0.1, 0.2};
  const MetricResult outer = Compute("outer { threshold: 0.5 }", RankedInput(samples.Input()));
  EXPECT_FALSE(outer.value.has_value());
  EXPECT_EQ(outer.absent_reason, "no unknown samples");
}

// Accepted by its score, but predicted as unknown: rejected. It has no class for inner, which doesn't reject.
TEST(BalancedScore, APredictionOfTheUnknownRejects) {
  Samples samples;
  samples.num_classes = 2;
  samples.label = {0, 0, 1, -1, -1};
  samples.prediction = {0, 2, 1, 2, 1};
  samples.unknown_score = {0, 0, 0, 0, 0};
  const RankedInput ranked(samples.Input());
  EXPECT_TRUE(Agrees(Compute("inner { threshold: 0.5 }", ranked), (0.5 + 1) / 2));
  EXPECT_TRUE(Agrees(Compute("outer { threshold: 0.5 }", ranked), (2 / 3.0 + 0.5) / 2));
  EXPECT_TRUE(Agrees(Compute("overall { threshold: 0.5 }", ranked), (0.5 + 1 + 0.5) / 3));
}

}  // namespace
}  // namespace openset
