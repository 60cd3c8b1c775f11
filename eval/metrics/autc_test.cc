#include <limits>

#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Autc, AgreesWithPytorchOod) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGolden("deployment.json", "cases")) {
    if (golden.numbers.count("expected/autc") == 0) continue;
    const Samples samples = DeploymentSamples(golden);
    EXPECT_TRUE(Agrees(Compute("autc {}", RankedInput(samples.Input())), golden.at("expected/autc"))) << samples.name;
    ++compared;
  }
  EXPECT_EQ(compared, 4);
}

TEST(Autc, IsTheMeanDistanceFromTheRightEnd) {
  Samples samples;
  samples.unknown_score = {0, 1, 3, 4};  // mapped: 0, 1/4, 3/4, 1
  samples.label = {0, 0, -1, -1};
  samples.prediction = {0, 0, 0, 0};
  EXPECT_TRUE(Agrees(Compute("autc {}", RankedInput(samples.Input())), (1.0 / 8 + 1 - 7.0 / 8) / 2));
  samples.unknown_score = {1, 1, 1, 1};
  EXPECT_TRUE(Agrees(Compute("autc {}", RankedInput(samples.Input())), std::nullopt));
  samples.unknown_score = {1, 1, 1, std::numeric_limits<double>::infinity()};
  EXPECT_TRUE(Agrees(Compute("autc {}", RankedInput(samples.Input())), std::nullopt));
  samples.label = {0, 0, 0, 0};
  EXPECT_TRUE(Agrees(Compute("autc {}", RankedInput(samples.Input())), std::nullopt));
}

}  // namespace
}  // namespace openset
