#include "core/proto/traits.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/open_set.pb.h"

namespace openset {
namespace {

Traits OfInference(const char* text) { return TraitsOf(ParsedWithDefaults<InferenceSpec>(text)); }

Traits OfOpenSet(const char* text) { return TraitsOf(Parsed<OpenSetSpec>(text)); }

// A forward pass is 1, a backward pass 2.
TEST(InferenceTraits, PassesForAnImage) {
  EXPECT_EQ(OfInference("").passes(), 1);
  EXPECT_EQ(OfInference("plain {}").passes(), 1);
  EXPECT_EQ(OfInference("mc_dropout { passes: 7 }").passes(), 7);
  EXPECT_EQ(OfInference("input_perturbation {}").passes(), 4);
  EXPECT_EQ(OfInference("pixel_perturbation {}").passes(), 4);
  EXPECT_EQ(OfInference("stage_values { value: MEAN }").passes(), 1);
  EXPECT_EQ(OfInference("stage_values { value: STATE }").passes(), 3);
  EXPECT_EQ(OfInference("rank_feat {}").passes(), 2);
  EXPECT_EQ(OfInference("ensemble { members: 3 }").passes(), 1);
}

TEST(InferenceTraits, OnlyAnEnsembleHasSeveralMembers) {
  EXPECT_EQ(OfInference("ensemble { members: 3 }").members(), 3);
  EXPECT_EQ(OfInference("mc_dropout { passes: 7 }").members(), 1);
}

TEST(InferenceTraits, MeansAndTrainingModeHaveNoFeatures) {
  EXPECT_THAT(OfInference("mc_dropout {}").no_features(), HasSubstr("mean"));
  EXPECT_THAT(OfInference("ensemble {}").no_features(), HasSubstr("mean"));
  EXPECT_THAT(OfInference("train_mode_pass {}").no_features(), HasSubstr("training mode"));
  EXPECT_FALSE(OfInference("plain {}").has_no_features());
  EXPECT_FALSE(OfInference("input_perturbation {}").has_no_features());
}

TEST(InferenceTraits, WhatOutputsHave) {
  EXPECT_TRUE(OfInference("mc_dropout { member_uncertainty: true }").member_uncertainty());
  EXPECT_FALSE(OfInference("mc_dropout {}").member_uncertainty());
  EXPECT_TRUE(OfInference("ensemble { member_uncertainty: true }").member_uncertainty());
  EXPECT_TRUE(OfInference("pixel_perturbation {}").perturbed());
  EXPECT_FALSE(OfInference("input_perturbation {}").perturbed());
  EXPECT_TRUE(OfInference("stage_values { value: GRAM }").stage_grams());
  EXPECT_FALSE(OfInference("plain {}").stage_grams() || OfInference("plain {}").stage_means());
}

TEST(InferenceTraits, WhatTheyAskOfAMethod) {
  EXPECT_EQ(OfInference("rank_feat { stages: LAST }").stages(), 1);
  EXPECT_EQ(OfInference("rank_feat { stages: LAST_TWO }").stages(), 2);
  EXPECT_EQ(OfInference("stage_values { value: MEAN }").stages(), 1);
  EXPECT_EQ(OfInference("plain {}").stages(), 0);
  EXPECT_TRUE(OfInference("mc_dropout {}").dropout());
  EXPECT_TRUE(OfInference("train_mode_pass {}").reads_training_images());
  EXPECT_TRUE(OfInference("input_perturbation {}").shares_passes());
  EXPECT_FALSE(OfInference("pixel_perturbation {}").shares_passes());
  EXPECT_TRUE(OfInference("ensemble {}").has_needs_training());
  EXPECT_TRUE(OfInference("train_mode_pass {}").has_needs_training());
  EXPECT_FALSE(OfInference("mc_dropout {}").has_needs_training());
}

TEST(OpenSetTraits, ImagesBesideTheBatch) {
  EXPECT_EQ(OfOpenSet("").more_images(), 0);
  EXPECT_EQ(OfOpenSet("external_images { share: 2.5 }").more_images(), 2.5);
  EXPECT_EQ(OfOpenSet("confusing_images {}").more_images(), 2);
  EXPECT_EQ(OfOpenSet("mixed_images { beside_batch: true }").more_images(), 1);
  EXPECT_EQ(OfOpenSet("mixed_images {}").more_images(), 0);
}

TEST(OpenSetTraits, Mixtures) {
  for (const char* text : {"mixed_images {}", "external_images { pix_mix {} }"}) {
    EXPECT_TRUE(OfOpenSet(text).mixtures()) << text;
    EXPECT_TRUE(OfOpenSet(text).replaces_batch()) << text;
  }
  for (const char* text : {"mixed_images { beside_batch: true }", "external_images { mix {} }"}) {
    EXPECT_TRUE(OfOpenSet(text).mixtures()) << text;
    EXPECT_FALSE(OfOpenSet(text).replaces_batch()) << text;
  }
  EXPECT_FALSE(OfOpenSet("external_images {}").mixtures());
  EXPECT_FALSE(OfOpenSet("noise_images {}").mixtures());
}

TEST(OpenSetTraits, WhatTheyAskOfAMethod) {
  EXPECT_TRUE(OfOpenSet("feature_mixup {}").slots());
  EXPECT_EQ(OfOpenSet("stage_mixup {}").stages(), 2);
  EXPECT_TRUE(OfOpenSet("confusing_images {}").power_of_two_size());
  EXPECT_FALSE(OfOpenSet("overlay_images {}").power_of_two_size());
}

TEST(OpenSetTraits, ExternalImagesAreRead) {
  EXPECT_TRUE(OfOpenSet("external_images {}").external_images());
  EXPECT_FALSE(OfOpenSet("noise_images {}").external_images());
}

}  // namespace
}  // namespace openset
