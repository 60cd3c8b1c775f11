#include "eval/testing/golden_scores.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace openset {
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

PostHocGolden::PostHocGolden(absl::string_view file, absl::string_view path) : golden_(ReadGolden(file, path)[0]) {
  const auto floats = [this](const std::string& name) {
    const auto values = golden_.arrays.find(name);
    if (values == golden_.arrays.end()) return std::vector<float>();
    return std::vector<float>(values->second.begin(), values->second.end());
  };
  train_logits_ = floats("train_logits");
  train_features_ = floats("train_features");
  logits_ = floats("logits");
  features_ = floats("features");
  train_perturbed_ = floats("train_perturbed_features");
  perturbed_ = floats("perturbed_features");
  weight_ = floats("weight");
  bias_ = floats("bias");
  if (const auto widths = golden_.arrays.find("stage_widths"); widths != golden_.arrays.end()) {
    stage_widths_.assign(widths->second.begin(), widths->second.end());
  }
  for (const double label : golden_.arrays.at("train_label")) labels_.push_back(static_cast<int32_t>(label));
}

ScoreInput PostHocGolden::Input(const std::vector<float>& logits, const std::vector<float>& features,
                                const std::vector<float>& perturbed) const {
  ScoreInput input;
  input.num_outputs = static_cast<int64_t>(*golden_.at("num_classes"));
  input.feature_dim = static_cast<int64_t>(*golden_.at("feature_dim"));
  input.num_samples = logits.size() / input.num_outputs;
  input.logits = logits;
  input.features = features;
  input.perturbed_features = perturbed;
  input.stage_values = features;
  input.stage_widths = stage_widths_;
  input.head_weight = weight_;
  input.head_bias = bias_;
  return input;
}

ScoreInput PostHocGolden::Train() const { return Input(train_logits_, train_features_, train_perturbed_); }
ScoreInput PostHocGolden::Test() const { return Input(logits_, features_, perturbed_); }

const std::vector<double>& PostHocGolden::expected(absl::string_view name) const {
  return golden_.arrays.at(absl::StrCat("expected/", name));
}

void PostHocGolden::Expect(Score* score, absl::string_view name, double tolerance) const {
  const absl::Status fitted = score->Fit(Train(), labels_);
  ASSERT_TRUE(fitted.ok()) << fitted;
  ExpectScores(score->Compute(Test()).value(), name, tolerance);
}

const std::vector<double>& PostHocGolden::weiper_noise() const { return golden_.arrays.at("weiper_noise"); }

void PostHocGolden::ExpectScores(const std::vector<double>& scores, absl::string_view name, double tolerance) const {
  const std::vector<double>& wanted = expected(name);
  ASSERT_EQ(scores.size(), wanted.size());
  for (int row = 0; row < scores.size(); ++row) {
    EXPECT_NEAR(scores[row], wanted[row], tolerance * std::max(1.0, std::abs(wanted[row]))) << name << ", row " << row;
  }
}

}  // namespace openset
