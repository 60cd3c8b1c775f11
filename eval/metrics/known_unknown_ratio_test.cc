#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(KnownUnknownRatio, IsThatOfTheSamples) {
  Samples samples;
  samples.unknown_score = {1, 2, 3, 4};
  samples.label = {0, -1, 0, 0};
  samples.prediction = {0, 0, 0, 0};
  EXPECT_TRUE(Agrees(Compute("known_unknown_ratio {}", RankedInput(samples.Input())), 3.0));
  samples.label[1] = 0;
  EXPECT_TRUE(Agrees(Compute("known_unknown_ratio {}", RankedInput(samples.Input())), std::nullopt));
}

}  // namespace
}  // namespace openset
