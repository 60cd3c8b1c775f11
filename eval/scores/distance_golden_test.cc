// Scores against tools/peers/make_distance_score_golden.py, on random and on real features.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "eval/scores/make_score.h"
#include "eval/testing/post_hoc_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::unique_ptr<Score> ScoreOf(const std::string& text) { return MakeScore(Parsed<ScoreSpec>(text)).value(); }

TEST(DistanceScores, GiveGoldenValues) {
  for (const char* features : {"random", "digits"}) {
    SCOPED_TRACE(features);
    const testing::PostHocGolden golden("distance_scores.json", features);
    for (const auto& [text, name] : {
             std::pair("mahalanobis_plus_plus {}", "mahalanobis_plus_plus"),
             std::pair("relative_mahalanobis_plus_plus {}", "relative_mahalanobis_plus_plus"),
             std::pair("nac {}", "nac"),
             std::pair("nac { full: 5 thresholds: 20 steepness: 1 }", "nac_5"),
             std::pair("ghost {}", "ghost"),
         }) {
      golden.Expect(ScoreOf(text).get(), name, 1e-9);
    }
    // scikit-learn looks for the power to 1e-8.
    golden.Expect(ScoreOf("combood {}").get(), "combood", 1e-6);
    golden.Expect(ScoreOf("combood { k: 5 ridge: 0.1 }").get(), "combood_5", 1e-6);
    golden.Expect(ScoreOf("postmax {}").get(), "postmax", 1e-9);
    golden.Expect(ScoreOf("ghost { value: PROBABILITY }").get(), "ghost_probability", 1e-9);
  }
}

// The predictions of K + 1 revised outputs, by the steps of the released codes in NumPy. With half the weight of one
// rank a class may lose to another one, never to the unknown.
TEST(DistanceScores, OpenMaxPredictsTheLargestRevisedOutput) {
  for (const char* features : {"random", "digits"}) {
    SCOPED_TRACE(features);
    const testing::PostHocGolden golden("distance_scores.json", features);
    const ScoreInput test = golden.Test();
    for (const auto& [text, name] : {
             std::pair("openmax { tail: 2 alpha: 1 rank_weight: 0.5 translation: 1 prediction: REVISED }",
                       "openmax_unified_benchmark"),
             std::pair("openmax { prediction: REVISED }", "openmax"),
         }) {
      SCOPED_TRACE(name);
      const std::unique_ptr<Score> score = ScoreOf(text);
      golden.Expect(score.get(), name, 1e-7);
      const std::vector<int32_t> said = *score->Predictions(test, test.num_outputs).value();
      EXPECT_EQ(std::vector<double>(said.begin(), said.end()), golden.expected(absl::StrCat(name, "_prediction")));
    }
    EXPECT_EQ(
        *std::max_element(golden.expected("openmax_prediction").begin(), golden.expected("openmax_prediction").end()),
        test.num_outputs);
    const std::unique_ptr<Score> closed_set = ScoreOf("openmax {}");
    golden.Expect(closed_set.get(), "openmax", 1e-7);
    EXPECT_FALSE(closed_set->Predictions(test, test.num_outputs).value().has_value());
  }
}

}  // namespace
}  // namespace openset
