#include "eval/files/apply_score.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two known samples and an unknown one, of two classes.
SampleSet Logits() {
  SampleSet samples;
  samples.num_samples = 3;
  samples.num_outputs = samples.num_classes = 2;
  samples.logits = {1, 2, 5, 4, 0, 0};
  samples.label = {0, 1, -1};
  return samples;
}

TEST(ApplyScore, OfTheLogits) {
  SampleSet samples = Logits();
  ScoreSpec spec;
  spec.mutable_max_logit();
  ASSERT_TRUE(ApplyScore(spec, nullptr, &samples).ok());
  EXPECT_THAT(samples.unknown_score, ElementsAre(-2, -5, 0));
}

TEST(ApplyScore, IsFittedOnKnownSamplesAlone) {
  SampleSet samples = Logits();
  ScoreSpec spec;
  spec.mutable_temperature_scaled_softmax();
  EXPECT_EQ(ApplyScore(spec, nullptr, &samples).message(),
            "score temperature_scaled_softmax: must be fitted: give outputs of held-out known samples (--fit=FILE), or "
            "set its parameters");
  SampleSet train = samples;
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  const std::vector<double> fitted = samples.unknown_score;
  train.logits[4] = 100;  // of the unknown sample
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  EXPECT_EQ(samples.unknown_score, fitted);
  train.logits[0] = 100;
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  EXPECT_NE(samples.unknown_score, fitted);
}

TEST(ApplyScore, WhatTheFilesLack) {
  const auto error = [](const ScoreSpec& spec, SampleSet samples) {
    const SampleSet train = samples;
    return std::string(ApplyScore(spec, &train, &samples).message());
  };
  ScoreSpec spec;
  spec.mutable_energy();
  EXPECT_EQ(error(spec, SampleSet()), "score energy: the samples have no logits");
  spec.mutable_knn();
  EXPECT_EQ(error(spec, Logits()), "score knn: the samples have no features");
  spec.mutable_ash();
  SampleSet features = Logits();
  features.feature_dim = 1;
  features.features = {1, 2, 3};
  EXPECT_EQ(error(spec, features), "score ash: there is no head_weight");
  spec.mutable_mutual_information();
  EXPECT_THAT(error(spec, Logits()), HasSubstr("score mutual_information: the score needs member_uncertainty"));
}

TEST(ScoreText, WithTheSettingsThatAreGiven) {
  ScoreSpec spec;
  spec.mutable_max_logit();
  EXPECT_EQ(ScoreText(spec), "max_logit of the logits");
  spec.mutable_energy()->set_temperature(2);
  EXPECT_EQ(ScoreText(spec), "energy { temperature: 2 } of the logits");
  spec.mutable_knn()->set_k(3);
  EXPECT_EQ(ScoreText(spec), "knn { k: 3 } of logits and features");
  spec.mutable_mutual_information();
  EXPECT_EQ(ScoreText(spec), "mutual_information of member_uncertainty");
}

}  // namespace
}  // namespace openset
