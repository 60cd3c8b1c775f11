#include "eval/metrics/aurc.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using testing::Compute;

TEST(ClassBalancedAurc, AgreesWithFdShifts) {
  for (const testing::GoldenCase& golden : testing::ReadGolden("selective.json", "cases")) {
    SCOPED_TRACE(golden.name);
    const testing::Samples samples = testing::OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    EXPECT_NEAR(*Compute("class_balanced_aurc {}", ranked).value, *golden.at("aurc_ba"), 1e-12);
    EXPECT_NEAR(*Compute("class_balanced_augrc {}", ranked).value, *golden.at("augrc_ba"), 1e-12);
  }
}

TEST(ClassBalancedAurc, EqualsAurcIfClassesAreAlike) {
  // Each class: right, wrong; the two of a rank tie.
  testing::Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {1, 1, 2, 2};
  samples.label = {0, 1, 0, 1};
  samples.prediction = {0, 1, 1, 0};
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(Compute("class_balanced_aurc {}", ranked).value,
            Compute("aurc { form: TRAPEZOID_DISTINCT }", ranked).value);
  EXPECT_EQ(Compute("class_balanced_augrc {}", ranked).value, Compute("augrc {}", ranked).value);
}

TEST(ClassBalancedAurc, GivesARareClassItsFullWeight) {
  // Class 0: three right; class 1: one wrong, last. Risks 0, 0, 0, (0 + 1) / 2.
  testing::Samples samples;
  samples.num_classes = 3;  // one without samples
  samples.unknown_score = {1, 2, 3, 4};
  samples.label = {0, 0, 0, 1};
  samples.prediction = {0, 0, 0, 0};
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(Compute("class_balanced_aurc {}", ranked).value, 0.5 / 2 / 4);
  EXPECT_EQ(Compute("class_balanced_augrc {}", ranked).value, 0.5 / 2 / 4);
}

}  // namespace
}  // namespace openset
