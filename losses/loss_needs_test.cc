#include "core/proto/needs.h"
#include "gtest/gtest.h"
#include "losses/loss.pb.h"

namespace openset {
namespace {

TEST(NeedsOf, CrossEntropyNeedsOpenSamplesOnlyAsAClass) {
  LossTermSpec spec;
  spec.mutable_cross_entropy();
  EXPECT_FALSE(NeedsOf(spec).open_set());
  EXPECT_FALSE(NeedsOf(spec).extra_output());
  EXPECT_FALSE(NeedsOf(spec).history());
  spec.mutable_cross_entropy()->set_open_set_is_last_class(true);
  EXPECT_TRUE(NeedsOf(spec).open_set());
  EXPECT_TRUE(NeedsOf(spec).extra_output());
}

TEST(NeedsOf, OpenAucNeedsOpenSamples) {
  LossTermSpec spec;
  spec.mutable_open_auc();
  EXPECT_TRUE(NeedsOf(spec).open_set());
  EXPECT_TRUE(NeedsOf(spec).slots());
  spec.mutable_open_auc()->set_pairs(OpenAucSpec::ALL);
  EXPECT_FALSE(NeedsOf(spec).slots());
  EXPECT_FALSE(NeedsOf(spec).extra_output());
}

TEST(NeedsOf, TheOtherTerms) {
  LossTermSpec spec;
  spec.mutable_outlier_exposure();
  EXPECT_TRUE(NeedsOf(spec).open_set());
  EXPECT_FALSE(NeedsOf(spec).points());
  spec.mutable_energy_margin();
  EXPECT_TRUE(NeedsOf(spec).open_set());
  spec.mutable_crl_ranking();
  EXPECT_TRUE(NeedsOf(spec).history());
  EXPECT_FALSE(NeedsOf(spec).open_set());
  spec.mutable_evidential();
  EXPECT_FALSE(NeedsOf(spec).history());
  spec.mutable_gcpl();
  EXPECT_TRUE(NeedsOf(spec).points());
  EXPECT_FALSE(NeedsOf(spec).open_set());
  spec.mutable_rpl();
  EXPECT_TRUE(NeedsOf(spec).points());
  spec.mutable_arpl();
  EXPECT_TRUE(NeedsOf(spec).points());
  EXPECT_EQ(NeedsOf(spec).extra_views(), 0);
  spec.mutable_confusing_samples();
  EXPECT_TRUE(NeedsOf(spec).points());
  EXPECT_TRUE(NeedsOf(spec).open_set());
  spec.mutable_jsd_consistency()->set_extra_views(3);
  EXPECT_EQ(NeedsOf(spec).extra_views(), 3);
  spec.mutable_cider()->set_extra_views(1);
  EXPECT_EQ(NeedsOf(spec).extra_views(), 1);
  spec.mutable_confidence_branch();
  EXPECT_TRUE(NeedsOf(spec).extra_output());
  spec.mutable_random_temperature();
  EXPECT_TRUE(NeedsOf(spec).extra_output());
  spec.mutable_objectosphere();
  EXPECT_TRUE(NeedsOf(spec).open_set());
  EXPECT_FALSE(NeedsOf(spec).mixtures());
  spec.mutable_mixed_cross_entropy();
  EXPECT_TRUE(NeedsOf(spec).open_set());
  EXPECT_TRUE(NeedsOf(spec).mixtures());
  spec.mutable_energy_constraint();
  EXPECT_TRUE(NeedsOf(spec).open_set());
  spec.mutable_placeholder();
  EXPECT_TRUE(NeedsOf(spec).open_set());
  EXPECT_TRUE(NeedsOf(spec).extra_output());
}

}  // namespace
}  // namespace openset
