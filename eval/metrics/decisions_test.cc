#include "eval/metrics/decisions.h"

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// The means over classes, counted from the definition.
Decisions Counted(const Samples& samples, double threshold) {
  Decisions d;
  const int classes = samples.num_classes;
  const int n = samples.label.size();
  for (int c = 0; c < classes; ++c) {
    double tp = 0, fp = 0, fn = 0;
    for (int i = 0; i < n; ++i) {
      const bool as_c = samples.unknown_score[i] <= threshold && samples.prediction[i] == c;
      tp += as_c && samples.label[i] == c;
      fp += as_c && samples.label[i] != c;
      fn += !as_c && samples.label[i] == c;
    }
    const double tn = n - tp - fp - fn;
    d.macro_precision += tp + fp == 0 ? 0 : tp / (tp + fp) / classes;
    d.macro_tpr += tp + fn == 0 ? 0 : tp / (tp + fn) / classes;
    d.macro_tnr += tn + fp == 0 ? 0 : tn / (tn + fp) / classes;
  }
  return d;
}

TEST(DecisionWalk, GivesTheMeansOverClassesOfEveryThreshold) {
  for (int round = 0; round < 5; ++round) {
    RandomStream random(2, absl::StrCat("walk/", round));
    Samples samples;
    samples.num_classes = 1 + 3 * round;
    for (int i = 0; i < 60; ++i) {
      samples.label.push_back(static_cast<int32_t>(random.Below(samples.num_classes + 1)) - 1);
      samples.prediction.push_back(random.Uniform() < 0.5 && samples.label.back() >= 0
                                       ? samples.label.back()
                                       : static_cast<int32_t>(random.Below(samples.num_classes + 1)));
      samples.unknown_score.push_back(static_cast<double>(random.Below(20)));
    }
    const RankedInput ranked(samples.Input());
    DecisionWalk walk(ranked, true);
    for (double threshold = -1; threshold <= 20; ++threshold) {
      walk.AcceptUpTo(threshold);
      const Decisions expected = Counted(samples, threshold);
      EXPECT_NEAR(walk.decisions().macro_precision, expected.macro_precision, 1e-14);
      EXPECT_NEAR(walk.decisions().macro_tpr, expected.macro_tpr, 1e-14);
      EXPECT_NEAR(walk.decisions().macro_tnr, expected.macro_tnr, 1e-14);
    }
    EXPECT_TRUE(walk.AtEnd());
    EXPECT_EQ(walk.decisions().accepted, ranked.total());
  }
}

}  // namespace
}  // namespace openset
