#include "core/proto/traits.h"
#include "eval/scores/score.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(TraitsOf, NeedsAFitOnlyForFittedScores) {
  ScoreSpec spec;
  spec.mutable_max_logit();
  EXPECT_FALSE(TraitsOf(spec).fit());
  EXPECT_FALSE(TraitsOf(spec).features());
  EXPECT_FALSE(TraitsOf(spec).head());
  spec.mutable_temperature_scaled_softmax();
  EXPECT_TRUE(TraitsOf(spec).fit());
  EXPECT_TRUE(TraitsOf(spec).calibrates());
  spec.mutable_temperature_scaled_softmax()->set_temperature(2);
  EXPECT_FALSE(TraitsOf(spec).fit());
  EXPECT_FALSE(TraitsOf(spec).calibrates());
}

TEST(TraitsOf, AsksForAnExtraOutput) {
  ScoreSpec spec;
  spec.mutable_extra_output();
  EXPECT_TRUE(TraitsOf(spec).extra_output());
  EXPECT_FALSE(TraitsOf(spec).fit());
}

// The conformance suite (eval/testing) tries all members, and finds which read it.
TEST(TraitsOf, SaysWhetherTheLevelOfTheLogitsIsRead) {
  ScoreSpec spec;
  spec.mutable_max_softmax();
  EXPECT_FALSE(TraitsOf(spec).logit_level());
  spec.mutable_energy();
  EXPECT_TRUE(TraitsOf(spec).logit_level());
  ScoreSpec combined;
  combined.mutable_combine()->add_score()->mutable_knn();
  EXPECT_FALSE(TraitsOf(combined).logit_level());
  *combined.mutable_combine()->add_score() = spec;
  EXPECT_TRUE(TraitsOf(combined).logit_level());
  for (const ExtraOutputSpec::Value value : {ExtraOutputSpec::PROBABILITY, ExtraOutputSpec::MARGIN}) {
    spec.mutable_extra_output()->set_value(value);
    EXPECT_FALSE(TraitsOf(spec).logit_level());
  }
  for (const ExtraOutputSpec::Value value : {ExtraOutputSpec::NEGATED, ExtraOutputSpec::PLAIN}) {
    spec.mutable_extra_output()->set_value(value);
    EXPECT_TRUE(TraitsOf(spec).logit_level());
  }
}

TEST(TraitsOf, SaysWhetherEachClassIsFitted) {
  ScoreSpec spec;
  spec.mutable_ssd();
  EXPECT_FALSE(TraitsOf(spec).each_class());
  spec.mutable_ssd()->set_clusters(SsdSpec::CLASSES);
  EXPECT_TRUE(TraitsOf(spec).each_class());
  ScoreSpec combined;
  combined.mutable_combine()->add_score()->mutable_knn();
  EXPECT_FALSE(TraitsOf(combined).each_class());
  combined.mutable_combine()->add_score()->mutable_ghost();
  EXPECT_TRUE(TraitsOf(combined).each_class());
}

TEST(TraitsOf, AsksForFeaturesAndHead) {
  ScoreSpec spec;
  spec.mutable_react();
  EXPECT_TRUE(TraitsOf(spec).fit());
  EXPECT_TRUE(TraitsOf(spec).features());
  EXPECT_TRUE(TraitsOf(spec).head());
  spec.mutable_react()->set_clip(1);
  EXPECT_FALSE(TraitsOf(spec).fit());
}

TEST(TraitsOf, AsksForPerturbedFeatures) {
  ScoreSpec spec;
  spec.mutable_adascale();
  EXPECT_TRUE(TraitsOf(spec).perturbed());
  spec.mutable_scale();
  EXPECT_FALSE(TraitsOf(spec).perturbed());
}

TEST(TraitsOf, AsksForValuesOfStages) {
  ScoreSpec spec;
  spec.mutable_mahalanobis_ensemble();
  EXPECT_TRUE(TraitsOf(spec).stage_means());
  EXPECT_FALSE(TraitsOf(spec).stage_states());
  EXPECT_FALSE(TraitsOf(spec).features());
  ScoreSpec combined;
  *combined.mutable_combine()->add_score() = spec;
  combined.mutable_combine()->add_score()->mutable_nac_stages();
  EXPECT_FALSE(TraitsOf(combined).stage_grams());
  combined.mutable_combine()->add_score()->mutable_gram();
  EXPECT_TRUE(TraitsOf(combined).stage_grams());
  EXPECT_TRUE(TraitsOf(combined).stage_means());
  EXPECT_TRUE(TraitsOf(combined).stage_states());
}

TEST(TraitsOf, IncludesTheCombinedScores) {
  ScoreSpec spec;
  spec.mutable_combine()->add_score()->mutable_max_logit();
  EXPECT_TRUE(TraitsOf(spec).fit());  // its p-values
  EXPECT_FALSE(TraitsOf(spec).features());
  spec.mutable_combine()->add_score()->mutable_lts();
  spec.mutable_combine()->add_score()->mutable_combine()->add_score()->mutable_variation_ratio();
  EXPECT_TRUE(TraitsOf(spec).features());
  EXPECT_TRUE(TraitsOf(spec).head());
  EXPECT_TRUE(TraitsOf(spec).member_uncertainty());
  EXPECT_FALSE(TraitsOf(spec).perturbed());
  EXPECT_FALSE(TraitsOf(spec).calibrates());
  spec.mutable_combine()->add_score()->mutable_temperature_scaled_softmax()->set_temperature(2);
  EXPECT_FALSE(TraitsOf(spec).calibrates());  // nothing to fit
  ScoreSpec* nested = spec.mutable_combine()->add_score()->mutable_combine()->add_score();
  nested->mutable_temperature_scaled_softmax();
  EXPECT_TRUE(TraitsOf(spec).calibrates());
}

}  // namespace
}  // namespace openset
