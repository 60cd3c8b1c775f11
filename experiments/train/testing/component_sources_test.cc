// Each member of a family has its own sources in the tables of training, inference and evaluation, so that a change of
// one member doesn't mark the results of the others as changed (experiments/study/source_changes.h).
#include "core/testing/status_matchers.h"
#include "data/augment/augment.pb.h"
#include "eval/metrics/metric.pb.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/store/testing/members_without_sources.h"
#include "losses/loss.pb.h"
#include "models/model.pb.h"

namespace openset {

extern const FingerprintRow openset_train_fingerprints[];
extern const FingerprintRow openset_infer_fingerprints[];
extern const FingerprintRow openset_evaluate_fingerprints[];

namespace {

TEST(ComponentSources, AreKnownForEachMember) {
  for (const FingerprintTable table : {openset_train_fingerprints, openset_infer_fingerprints}) {
    // Outputs that were computed elsewhere have no sources.
    EXPECT_THAT(MembersWithoutSources(*ModelSpec::descriptor(), table), ElementsAre("outputs"));
    EXPECT_THAT(MembersWithoutSources(*HeadSpec::descriptor(), table), IsEmpty());
  }
  EXPECT_THAT(MembersWithoutSources(*LossTermSpec::descriptor(), openset_train_fingerprints), IsEmpty());
  EXPECT_THAT(MembersWithoutSources(*AugmentationSpec::descriptor(), openset_train_fingerprints), IsEmpty());
  EXPECT_THAT(MembersWithoutSources(*OpenSetSpec::descriptor(), openset_train_fingerprints), IsEmpty());
  EXPECT_THAT(MembersWithoutSources(*InferenceSpec::descriptor(), openset_infer_fingerprints), IsEmpty());
  EXPECT_THAT(MembersWithoutSources(*MetricSpec::descriptor(), openset_evaluate_fingerprints), IsEmpty());
  EXPECT_THAT(MembersWithoutSources(*ScoreSpec::descriptor(), openset_evaluate_fingerprints), IsEmpty());
}

}  // namespace
}  // namespace openset
