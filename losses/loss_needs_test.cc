#include "core/proto/traits.h"
#include "gtest/gtest.h"
#include "losses/loss.pb.h"

namespace openset {
namespace {

TEST(TraitsOf, CrossEntropyNeedsOpenSamplesOnlyAsAClass) {
  LossTermSpec spec;
  spec.mutable_cross_entropy();
  EXPECT_FALSE(TraitsOf(spec).open_set());
  EXPECT_FALSE(TraitsOf(spec).extra_output());
  EXPECT_FALSE(TraitsOf(spec).history());
  spec.mutable_cross_entropy()->set_open_set_is_last_class(true);
  EXPECT_TRUE(TraitsOf(spec).open_set());
  EXPECT_TRUE(TraitsOf(spec).extra_output());
}

TEST(TraitsOf, OpenAucNeedsOpenSamples) {
  LossTermSpec spec;
  spec.mutable_open_auc();
  EXPECT_TRUE(TraitsOf(spec).open_set());
  EXPECT_TRUE(TraitsOf(spec).slots());
  spec.mutable_open_auc()->set_pairs(OpenAucSpec::ALL);
  EXPECT_FALSE(TraitsOf(spec).slots());
  EXPECT_FALSE(TraitsOf(spec).extra_output());
}

TEST(TraitsOf, TheOtherTerms) {
  LossTermSpec spec;
  spec.mutable_outlier_exposure();
  EXPECT_TRUE(TraitsOf(spec).open_set());
  EXPECT_FALSE(TraitsOf(spec).points());
  spec.mutable_energy_margin();
  EXPECT_TRUE(TraitsOf(spec).open_set());
  spec.mutable_crl_ranking();
  EXPECT_TRUE(TraitsOf(spec).history());
  EXPECT_FALSE(TraitsOf(spec).open_set());
  spec.mutable_evidential();
  EXPECT_FALSE(TraitsOf(spec).history());
  spec.mutable_gcpl();
  EXPECT_TRUE(TraitsOf(spec).points());
  EXPECT_FALSE(TraitsOf(spec).open_set());
  spec.mutable_rpl();
  EXPECT_TRUE(TraitsOf(spec).points());
  spec.mutable_arpl();
  EXPECT_TRUE(TraitsOf(spec).points());
  EXPECT_EQ(TraitsOf(spec).extra_views(), 0);
  spec.mutable_confusing_samples();
  EXPECT_TRUE(TraitsOf(spec).points());
  EXPECT_TRUE(TraitsOf(spec).open_set());
  spec.mutable_jsd_consistency()->set_extra_views(3);
  EXPECT_EQ(TraitsOf(spec).extra_views(), 3);
  spec.mutable_cider()->set_extra_views(1);
  EXPECT_EQ(TraitsOf(spec).extra_views(), 1);
  spec.mutable_confidence_branch();
  EXPECT_TRUE(TraitsOf(spec).extra_output());
  spec.mutable_random_temperature();
  EXPECT_TRUE(TraitsOf(spec).extra_output());
  spec.mutable_objectosphere();
  EXPECT_TRUE(TraitsOf(spec).open_set());
  EXPECT_FALSE(TraitsOf(spec).mixtures());
  spec.mutable_mixed_cross_entropy();
  EXPECT_TRUE(TraitsOf(spec).open_set());
  EXPECT_TRUE(TraitsOf(spec).mixtures());
  spec.mutable_energy_constraint();
  EXPECT_TRUE(TraitsOf(spec).open_set());
  spec.mutable_placeholder();
  EXPECT_TRUE(TraitsOf(spec).open_set());
  EXPECT_TRUE(TraitsOf(spec).extra_output());
}

}  // namespace
}  // namespace openset
