#include "eval/testing/golden_scores.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace openset {
namespace testing {

GoldenScores::GoldenScores() : golden_(ReadGolden("scores.json", "")[0]) {
  for (int row = 0; golden_.arrays.count(absl::StrCat("logits/", row)) > 0; ++row) {
    for (const double logit : golden_.arrays.at(absl::StrCat("logits/", row))) logits_.push_back(logit);
  }
}

ScoreInput GoldenScores::Input() const {
  ScoreInput input;
  input.num_samples = golden_.arrays.at("label").size();
  input.num_outputs = logits_.size() / input.num_samples;
  input.logits = logits_;
  return input;
}

void GoldenScores::Expect(const Score& score, absl::string_view name) const {
  const std::vector<double> scores = score.Compute(Input()).value();
  const std::vector<double>& expected = golden_.arrays.at(absl::StrCat("expected/", name));
  ASSERT_EQ(scores.size(), expected.size());
  for (int row = 0; row < scores.size(); ++row) {
    EXPECT_NEAR(scores[row], expected[row], 1e-12 * std::max(1.0, std::abs(expected[row]))) << name << ", row " << row;
  }
}

}  // namespace testing
}  // namespace openset
