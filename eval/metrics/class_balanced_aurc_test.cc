#include <algorithm>

#include "eval/metrics/aurc.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ClassBalancedAurc, AgreesWithFdShifts) {
  for (const GoldenCase& golden : ReadGolden("selective.json", "cases")) {
    SCOPED_TRACE(golden.name);
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    EXPECT_NEAR(*Compute("class_balanced_aurc {}", ranked).value, *golden.at("aurc_ba"), 1e-12);
    EXPECT_NEAR(*Compute("class_balanced_augrc {}", ranked).value, *golden.at("augrc_ba"), 1e-12);
  }
}

TEST(ClassBalancedAurc, EqualsAurcIfClassesAreAlike) {
  // Each class: right, wrong; the two of a rank tie.
  Samples samples;
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
  Samples samples;
  samples.num_classes = 3;  // one without samples
  samples.unknown_score = {1, 2, 3, 4};
  samples.label = {0, 0, 0, 1};
  samples.prediction = {0, 0, 0, 0};
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(Compute("class_balanced_aurc {}", ranked).value, 0.5 / 2 / 4);
  EXPECT_EQ(Compute("class_balanced_augrc {}", ranked).value, 0.5 / 2 / 4);
}

// 500 samples of 7 classes with 11 different scores: to the last bit.
TEST(ClassBalancedAurc, DoesNotDependOnTheOrderOfTheSamples) {
  Samples samples;
  samples.num_classes = 7;
  for (int i = 0; i < 500; ++i) {
    samples.unknown_score.push_back(i * 37 % 11);
    samples.label.push_back(i * i % 7);
    samples.prediction.push_back(i * i % 7 - (i % 3 == 0 && i * i % 7 > 0 ? 1 : 0));
  }
  Samples reversed = samples;
  std::reverse(reversed.unknown_score.begin(), reversed.unknown_score.end());
  std::reverse(reversed.label.begin(), reversed.label.end());
  std::reverse(reversed.prediction.begin(), reversed.prediction.end());
  const RankedInput one(samples.Input()), other(reversed.Input());
  for (const char* metric : {"class_balanced_aurc {}", "class_balanced_augrc {}"}) {
    EXPECT_EQ(*Compute(metric, one).value, *Compute(metric, other).value) << metric;
  }
}

}  // namespace
}  // namespace openset
