#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ExpectedCost, IsTheLeastOverAllThresholds) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGolden("deployment.json", "cases")) {
    Samples samples = DeploymentSamples(golden);
    // The losses are 0 or 1: a prediction of the other class.
    samples.num_classes = 2;
    for (const float loss : samples.loss) samples.prediction.push_back(loss > 0 ? 1 : 0);
    samples.loss.clear();
    const RankedInput ranked(samples.Input());
    for (const char* costs : {"0.5,1,0", "0.05,10,0", "0.2,3,2"}) {
      const auto expected = golden.numbers.find(absl::StrCat("expected/cost/", costs));
      if (expected == golden.numbers.end()) continue;
      const std::vector<std::string> parts = absl::StrSplit(costs, ',');
      EXPECT_TRUE(Agrees(Compute(absl::StrCat("expected_cost { prevalence: ", parts[0], " unknown_cost: ", parts[1],
                                              " error_cost: ", parts[2], " }"),
                                 ranked),
                         expected->second))
          << samples.name << " " << costs;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 6);
}

TEST(ExpectedCost, IsTakenAtAThreshold) {
  Samples samples;
  samples.unknown_score = {0.1, 0.2, 0.6, 0.5, 0.9};
  samples.label = {0, 0, 0, -1, -1};
  samples.prediction = {0, 1, 0, 0, 0};
  samples.num_classes = 2;
  // At 0.5, one of three known samples is rejected, one is wrong, and one of two unknown samples is accepted.
  EXPECT_TRUE(Agrees(Compute("expected_cost { prevalence: 0.1 unknown_cost: 5 error_cost: 2 at { threshold: 0.5 } }",
                             RankedInput(samples.Input())),
                     0.1 * 5 / 2 + 0.9 * (1.0 / 3 + 2.0 / 3)));
  // Without predictions, errors can't cost anything.
  samples.prediction.clear();
  EXPECT_TRUE(Agrees(Compute("expected_cost { error_cost: 2 }", RankedInput(samples.Input())), std::nullopt));
  // At 0.2, a third of the known samples is rejected.
  EXPECT_TRUE(Agrees(Compute("expected_cost {}", RankedInput(samples.Input())), 0.5 / 3));
}

}  // namespace
}  // namespace openset
