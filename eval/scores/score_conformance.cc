#include "eval/scores/score_conformance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/random.h"
#include "eval/scores/make_score.h"
#include "eval/scores/score_needs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace testing {
namespace {

using ::testing::HasSubstr;

constexpr int kOutputs = 5;

ScoreInput Input(const std::vector<float>& logits) {
  ScoreInput input;
  input.num_samples = logits.size() / kOutputs;
  input.num_outputs = kOutputs;
  input.logits = logits;
  return input;
}

std::vector<float> RandomLogits(int rows) {
  RandomStream random(8, "logits");
  std::vector<float> logits(rows * kOutputs);
  for (float& logit : logits) logit = static_cast<float>(3 * random.Normal());
  return logits;
}

std::unique_ptr<Score> FittedScore(const ScoreSpec& spec) {
  std::unique_ptr<Score> score = MakeScore(spec);
  const std::vector<float> train = RandomLogits(200);
  std::vector<int32_t> labels;
  for (int row = 0; row < 200; ++row) {
    const auto begin = train.begin() + row * kOutputs;
    labels.push_back(row % 3 == 0 ? row % kOutputs
                                  : static_cast<int32_t>(std::max_element(begin, begin + kOutputs) - begin));
  }
  EXPECT_TRUE(score->Fit(Input(train), labels).ok());
  return score;
}

}  // namespace

void CheckScore(const ScoreSpec& spec, const ScoreTraits& traits) {
  SCOPED_TRACE(spec.ShortDebugString());
  const std::unique_ptr<Score> score = FittedScore(spec);
  std::vector<float> logits = RandomLogits(20);
  for (const float extreme : {1000.0f, -1000.0f}) {
    logits.insert(logits.end(), kOutputs, extreme);
    logits.insert(logits.end(), {extreme, 0, 0, 0, 0});
    logits.insert(logits.end(), {extreme, -extreme, 0, 1, 2});
  }
  const std::vector<double> scores = score->Compute(Input(logits)).value();
  ASSERT_EQ(scores.size(), logits.size() / kOutputs);
  for (int row = 0; row < scores.size(); ++row) {
    SCOPED_TRACE(row);
    EXPECT_TRUE(std::isfinite(scores[row]));
    const std::vector<float> alone(logits.begin() + row * kOutputs, logits.begin() + (row + 1) * kOutputs);
    EXPECT_EQ(score->Compute(Input(alone)).value()[0], scores[row]);
    const std::vector<float> renumbered(alone.rbegin(), alone.rend());
    EXPECT_NEAR(score->Compute(Input(renumbered)).value()[0], scores[row], 1e-12 * (1 + std::abs(scores[row])));
    std::vector<float> shifted = alone;
    for (float& logit : shifted) logit += 0.25f;
    if (row < 20 && !traits.shift_changes_it) {
      EXPECT_NEAR(score->Compute(Input(shifted)).value()[0], scores[row], 1e-5);
    }
  }
  const std::vector<double> pair = score->Compute(Input({9, 0, 0, 0, 0, 1, 1, 1, 1, 1})).value();
  EXPECT_LT(pair[0], pair[1]) << "larger must mean more unknown";

  EXPECT_TRUE(score->Compute(Input({})).value().empty());
  logits[7] = std::numeric_limits<float>::quiet_NaN();
  absl::Status status = score->Compute(Input(logits)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("row 1"));
  ScoreInput wrong = Input(logits);
  ++wrong.num_samples;
  EXPECT_EQ(score->Compute(wrong).status().code(), absl::StatusCode::kInvalidArgument);
  wrong = Input(logits);
  wrong.logits = {};
  EXPECT_EQ(score->Compute(wrong).status().code(), absl::StatusCode::kInvalidArgument);

  const absl::Status unfitted = MakeScore(spec)->Compute(Input(RandomLogits(2))).status();
  EXPECT_EQ(unfitted.code(), NeedsOf(spec).fit ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kOk);
}

}  // namespace testing
}  // namespace openset
