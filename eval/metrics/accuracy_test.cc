#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Accuracy, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    EXPECT_TRUE(Agrees(Compute("accuracy {}", RankedInput(samples.Input())), golden.at("expected/accuracy")))
        << samples.name;
  }
}

TEST(Accuracy, IsTheShareOfCorrectKnownSamples) {
  Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0, 0, 0, 0};
  samples.label = {0, 1, 1, -1};
  samples.prediction = {0, 1, 0, 0};
  EXPECT_TRUE(Agrees(Compute("accuracy {}", RankedInput(samples.Input())), 2.0 / 3));
}

}  // namespace
}  // namespace openset
