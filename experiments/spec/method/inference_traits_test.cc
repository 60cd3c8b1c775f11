#include "experiments/spec/method/inference_traits.h"

#include "core/testing/parsed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

InferenceTraits Traits(const char* text) { return TraitsOf(ParsedWithDefaults<InferenceSpec>(text)); }

// A forward pass is 1, a backward pass 2.
TEST(InferenceTraits, PassesForAnImage) {
  EXPECT_EQ(Traits("").passes, 1);
  EXPECT_EQ(Traits("plain {}").passes, 1);
  EXPECT_EQ(Traits("mc_dropout { passes: 7 }").passes, 7);
  EXPECT_EQ(Traits("input_perturbation {}").passes, 4);
  EXPECT_EQ(Traits("pixel_perturbation {}").passes, 4);
  EXPECT_EQ(Traits("stage_values { value: MEAN }").passes, 1);
  EXPECT_EQ(Traits("stage_values { value: STATE }").passes, 3);
  EXPECT_EQ(Traits("rank_feat {}").passes, 2);
  EXPECT_EQ(Traits("ensemble { members: 3 }").passes, 1);
}

TEST(InferenceTraits, OnlyAnEnsembleHasSeveralMembers) {
  EXPECT_EQ(Traits("ensemble { members: 3 }").members, 3);
  EXPECT_EQ(Traits("mc_dropout { passes: 7 }").members, 1);
}

TEST(InferenceTraits, MeansAndTrainingModeHaveNoFeatures) {
  EXPECT_THAT(Traits("mc_dropout {}").no_features, HasSubstr("mean"));
  EXPECT_THAT(Traits("ensemble {}").no_features, HasSubstr("mean"));
  EXPECT_THAT(Traits("train_mode_pass {}").no_features, HasSubstr("training mode"));
  EXPECT_EQ(Traits("plain {}").no_features, nullptr);
  EXPECT_EQ(Traits("input_perturbation {}").no_features, nullptr);
}

TEST(InferenceTraits, WhatOutputsHave) {
  EXPECT_TRUE(Traits("mc_dropout { member_uncertainty: true }").member_uncertainty);
  EXPECT_FALSE(Traits("mc_dropout {}").member_uncertainty);
  EXPECT_TRUE(Traits("ensemble { member_uncertainty: true }").member_uncertainty);
  EXPECT_TRUE(Traits("pixel_perturbation {}").perturbed_features);
  EXPECT_FALSE(Traits("input_perturbation {}").perturbed_features);
  EXPECT_EQ(Traits("stage_values { value: GRAM }").stage_values, StageValuesSpec::GRAM);
  EXPECT_EQ(Traits("plain {}").stage_values, std::nullopt);
}

TEST(InferenceTraits, WhatTheyAskOfAMethod) {
  EXPECT_EQ(Traits("rank_feat { stages: LAST }").stages, 1);
  EXPECT_EQ(Traits("rank_feat { stages: LAST_TWO }").stages, 2);
  EXPECT_EQ(Traits("stage_values { value: MEAN }").stages, 1);
  EXPECT_EQ(Traits("plain {}").stages, 0);
  EXPECT_TRUE(Traits("mc_dropout {}").uses_dropout);
  EXPECT_TRUE(Traits("train_mode_pass {}").reads_training_images);
  EXPECT_TRUE(Traits("input_perturbation {}").shares_passes);
  EXPECT_FALSE(Traits("pixel_perturbation {}").shares_passes);
  EXPECT_NE(Traits("ensemble {}").needs_training, nullptr);
  EXPECT_NE(Traits("train_mode_pass {}").needs_training, nullptr);
  EXPECT_EQ(Traits("mc_dropout {}").needs_training, nullptr);
}

}  // namespace
}  // namespace openset
