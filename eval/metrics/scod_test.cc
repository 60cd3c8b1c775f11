#include "absl/strings/str_cat.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Scod, AgreesWithTorchUncertainty) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGolden("deployment.json", "cases")) {
    if (golden.numbers.count("expected/scod_aurc_0.5") == 0) continue;
    const Samples samples = DeploymentSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    for (const char* kind : {"aurc", "augrc"}) {
      for (const char* cost : {"0.5", "0.2"}) {
        const std::string metric =
            absl::StrCat("scod_", kind, " { unknown_cost: ", cost, " form: TRAPEZOID_NORMALISED }");
        EXPECT_TRUE(Agrees(Compute(metric, ranked), golden.at(absl::StrCat("expected/scod_", kind, "_", cost))));
      }
      // The risks of graded answers, too.
      EXPECT_TRUE(Agrees(Compute(absl::StrCat(kind, " { form: TRAPEZOID_NORMALISED }"), ranked),
                         golden.at(absl::StrCat("expected/", kind))));
    }
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

TEST(Scod, IsHalfOfThePooledAreaIfBothCostTheSame) {
  for (const GoldenCase& golden : ReadGolden("deployment.json", "cases")) {
    const Samples samples = DeploymentSamples(golden);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Compute("scod_aurc {}", ranked), *Compute("pooled_aurc {}", ranked).value / 2));
    EXPECT_TRUE(Agrees(Compute("scod_augrc {}", ranked), *Compute("pooled_augrc {}", ranked).value / 2));
  }
}

// A right answer, an unknown sample, a wrong answer.
TEST(Scod, WeighsErrorsAndUnknownSamples) {
  Samples samples;
  samples.unknown_score = {0.1, 0.2, 0.3};
  samples.label = {0, -1, 0};
  samples.prediction = {0, 0, 1};
  samples.num_classes = 2;
  const RankedInput ranked(samples.Input());
  EXPECT_TRUE(Agrees(Compute("scod_aurc { unknown_cost: 0.8 }", ranked), (0 + 0.8 / 2 + 1.0 / 3) / 3));
  // Trapezoids of the losses so far over 3: 0, 0, 0.8 / 3, 1 / 3.
  EXPECT_TRUE(Agrees(Compute("scod_augrc { unknown_cost: 0.8 }", ranked), (0 + 0.4 + 0.9) / 3 / 3));
}

}  // namespace
}  // namespace openset
