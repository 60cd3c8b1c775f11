#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

ScoreInput Features(const std::vector<float>& features) { return FeatureRows(features, 2); }

TEST(Knn, IsTheDistanceToTheKthNearestDirection) {
  const std::vector<float> train = {2, 0, 0, 5, -1, 0, 3, 3, 0, 0};  // 0, 90, 180, 45 degrees, and no direction
  const std::vector<float> query = {0.5, 0, 0, 0};
  const double chord45 = 2 * std::sin(M_PI / 8);
  const double expected[] = {0, chord45, 1, std::sqrt(2.0), 2};
  for (int k = 1; k <= 5; ++k) {
    MadeScore score(absl::StrCat("knn { k: ", k, " }"));
    ASSERT_TRUE(score.Fit(Features(train), {}).ok());
    const std::vector<double> scores = score.Compute(Features(query)).value();
    EXPECT_NEAR(scores[0], expected[k - 1], 1e-15) << k;
    EXPECT_NEAR(scores[1], k == 1 ? 0 : 1, 1e-15) << k;  // zeros are at the distance 1 of every direction
  }
}

TEST(Knn, AgreesWithSortingOverManyChunks) {
  std::vector<float> train;
  for (int i = 0; i < 3000; ++i) {
    const double angle = M_PI * ((i * 7919) % 3000) / 3000;
    train.push_back(static_cast<float>((1 + i % 5) * std::cos(angle)));
    train.push_back(static_cast<float>((1 + i % 5) * std::sin(angle)));
  }
  for (const int k : {1, 10, 700, 3000}) {
    MadeScore score(absl::StrCat("knn { k: ", k, " }"));
    ASSERT_TRUE(score.Fit(Features(train), {}).ok());
    // The k-th nearest to the direction 0 is at the angle pi (k - 1) / 3000.
    EXPECT_NEAR(score.Compute(Features({1, 0})).value()[0], 2 * std::sin(M_PI * (k - 1) / 6000), 1e-6) << k;
  }
}

TEST(Knn, TellsDirectionsApartThatFloatProductsCannot) {
  // Angles of i * 1e-5: their cosines differ by less than 1e-8 of 1.
  std::vector<float> train;
  for (int i = 0; i < 10; ++i) {
    train.push_back(1);
    train.push_back(static_cast<float>((i * 7) % 10) * 1e-5f);
  }
  for (int k = 1; k <= 10; ++k) {
    MadeScore score(absl::StrCat("knn { k: ", k, " }"));
    ASSERT_TRUE(score.Fit(Features(train), {}).ok());
    EXPECT_NEAR(score.Compute(Features({1, 0})).value()[0], (k - 1) * 1e-5, 1e-11) << k;
  }
}

TEST(Knn, RefusesInvalidInput) {
  MadeScore score("knn { k: 3 }");
  EXPECT_THAT(score.Fit(Features({1, 0, 0, 1}), {}).message(), HasSubstr("k = 3 needs as many training samples"));
}

}  // namespace
}  // namespace openset
