#include "core/proto/needs.h"
#include "eval/scores/score.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(NeedsOf, NeedsAFitOnlyForFittedScores) {
  ScoreSpec spec;
  spec.mutable_max_logit();
  EXPECT_FALSE(NeedsOf(spec).fit());
  EXPECT_FALSE(NeedsOf(spec).features());
  EXPECT_FALSE(NeedsOf(spec).head());
  spec.mutable_temperature_scaled_softmax();
  EXPECT_TRUE(NeedsOf(spec).fit());
  EXPECT_TRUE(NeedsOf(spec).calibrates());
  spec.mutable_temperature_scaled_softmax()->set_temperature(2);
  EXPECT_FALSE(NeedsOf(spec).fit());
  EXPECT_FALSE(NeedsOf(spec).calibrates());
}

TEST(NeedsOf, AsksForAnExtraOutput) {
  ScoreSpec spec;
  spec.mutable_extra_output();
  EXPECT_TRUE(NeedsOf(spec).extra_output());
  EXPECT_FALSE(NeedsOf(spec).fit());
}

// The conformance suite (eval/testing) tries all members, and finds which read it.
TEST(NeedsOf, SaysWhetherTheLevelOfTheLogitsIsRead) {
  ScoreSpec spec;
  spec.mutable_max_softmax();
  EXPECT_FALSE(NeedsOf(spec).logit_level());
  spec.mutable_energy();
  EXPECT_TRUE(NeedsOf(spec).logit_level());
  ScoreSpec combined;
  combined.mutable_combine()->add_score()->mutable_knn();
  EXPECT_FALSE(NeedsOf(combined).logit_level());
  *combined.mutable_combine()->add_score() = spec;
  EXPECT_TRUE(NeedsOf(combined).logit_level());
  for (const ExtraOutputSpec::Value value : {ExtraOutputSpec::PROBABILITY, ExtraOutputSpec::MARGIN}) {
    spec.mutable_extra_output()->set_value(value);
    EXPECT_FALSE(NeedsOf(spec).logit_level());
  }
  for (const ExtraOutputSpec::Value value : {ExtraOutputSpec::NEGATED, ExtraOutputSpec::PLAIN}) {
    spec.mutable_extra_output()->set_value(value);
    EXPECT_TRUE(NeedsOf(spec).logit_level());
  }
}

TEST(NeedsOf, SaysWhetherEachClassIsFitted) {
  ScoreSpec spec;
  spec.mutable_ssd();
  EXPECT_FALSE(NeedsOf(spec).each_class());
  spec.mutable_ssd()->set_clusters(SsdSpec::CLASSES);
  EXPECT_TRUE(NeedsOf(spec).each_class());
  ScoreSpec combined;
  combined.mutable_combine()->add_score()->mutable_knn();
  EXPECT_FALSE(NeedsOf(combined).each_class());
  combined.mutable_combine()->add_score()->mutable_ghost();
  EXPECT_TRUE(NeedsOf(combined).each_class());
}

TEST(NeedsOf, AsksForFeaturesAndHead) {
  ScoreSpec spec;
  spec.mutable_react();
  EXPECT_TRUE(NeedsOf(spec).fit());
  EXPECT_TRUE(NeedsOf(spec).features());
  EXPECT_TRUE(NeedsOf(spec).head());
  spec.mutable_react()->set_clip(1);
  EXPECT_FALSE(NeedsOf(spec).fit());
}

TEST(NeedsOf, AsksForPerturbedFeatures) {
  ScoreSpec spec;
  spec.mutable_adascale();
  EXPECT_TRUE(NeedsOf(spec).perturbed());
  spec.mutable_scale();
  EXPECT_FALSE(NeedsOf(spec).perturbed());
}

TEST(NeedsOf, AsksForValuesOfStages) {
  ScoreSpec spec;
  spec.mutable_mahalanobis_ensemble();
  EXPECT_TRUE(NeedsOf(spec).stage_means());
  EXPECT_FALSE(NeedsOf(spec).stage_states());
  EXPECT_FALSE(NeedsOf(spec).features());
  ScoreSpec combined;
  *combined.mutable_combine()->add_score() = spec;
  combined.mutable_combine()->add_score()->mutable_nac_stages();
  EXPECT_FALSE(NeedsOf(combined).stage_grams());
  combined.mutable_combine()->add_score()->mutable_gram();
  EXPECT_TRUE(NeedsOf(combined).stage_grams());
  EXPECT_TRUE(NeedsOf(combined).stage_means());
  EXPECT_TRUE(NeedsOf(combined).stage_states());
}

TEST(NeedsOf, IncludesTheCombinedScores) {
  ScoreSpec spec;
  spec.mutable_combine()->add_score()->mutable_max_logit();
  EXPECT_TRUE(NeedsOf(spec).fit());  // its p-values
  EXPECT_FALSE(NeedsOf(spec).features());
  spec.mutable_combine()->add_score()->mutable_lts();
  spec.mutable_combine()->add_score()->mutable_combine()->add_score()->mutable_variation_ratio();
  EXPECT_TRUE(NeedsOf(spec).features());
  EXPECT_TRUE(NeedsOf(spec).head());
  EXPECT_TRUE(NeedsOf(spec).member_uncertainty());
  EXPECT_FALSE(NeedsOf(spec).perturbed());
  EXPECT_FALSE(NeedsOf(spec).calibrates());
  spec.mutable_combine()->add_score()->mutable_temperature_scaled_softmax()->set_temperature(2);
  EXPECT_FALSE(NeedsOf(spec).calibrates());  // nothing to fit
  ScoreSpec* nested = spec.mutable_combine()->add_score()->mutable_combine()->add_score();
  nested->mutable_temperature_scaled_softmax();
  EXPECT_TRUE(NeedsOf(spec).calibrates());
}

}  // namespace
}  // namespace openset
