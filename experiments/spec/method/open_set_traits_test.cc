#include "experiments/spec/method/open_set_traits.h"

#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

OpenSetTraits Traits(const char* text) { return TraitsOf(Parsed<OpenSetSpec>(text)); }

TEST(OpenSetTraits, ImagesBesideTheBatch) {
  EXPECT_EQ(Traits("").more_images, 0);
  EXPECT_EQ(Traits("external_images { share: 2.5 }").more_images, 2.5);
  EXPECT_EQ(Traits("confusing_images {}").more_images, 2);
  EXPECT_EQ(Traits("mixed_images { beside_batch: true }").more_images, 1);
  EXPECT_EQ(Traits("mixed_images {}").more_images, 0);
}

TEST(OpenSetTraits, Mixtures) {
  for (const char* text : {"mixed_images {}", "external_images { pix_mix {} }"}) {
    EXPECT_TRUE(Traits(text).mixes_images) << text;
    EXPECT_TRUE(Traits(text).replaces_batch) << text;
  }
  for (const char* text : {"mixed_images { beside_batch: true }", "external_images { mix {} }"}) {
    EXPECT_TRUE(Traits(text).mixes_images) << text;
    EXPECT_FALSE(Traits(text).replaces_batch) << text;
  }
  EXPECT_FALSE(Traits("external_images {}").mixes_images);
  EXPECT_FALSE(Traits("noise_images {}").mixes_images);
}

TEST(OpenSetTraits, WhatTheyAskOfAMethod) {
  EXPECT_TRUE(Traits("feature_mixup {}").slots);
  EXPECT_EQ(Traits("stage_mixup {}").stages, 2);
  EXPECT_TRUE(Traits("confusing_images {}").power_of_two);
  EXPECT_FALSE(Traits("overlay_images {}").power_of_two);
}

TEST(ReadsExternalImages, OfEitherTraining) {
  MethodSpec method;
  EXPECT_FALSE(ReadsExternalImages(method));
  method.mutable_pretraining()->mutable_open_set()->mutable_external_images();
  EXPECT_TRUE(ReadsExternalImages(method));
  MethodSpec other;
  other.mutable_open_set()->mutable_external_images();
  EXPECT_TRUE(ReadsExternalImages(other));
}

}  // namespace
}  // namespace openset
