#include "experiments/check_method.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MethodSpec Parse(const std::string& text) {
  MethodSpec message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// Of a method with a score and an inference, unless it says others.
std::vector<std::string> Problems(const std::string& method,
                                  const std::string& rest = "score { max_logit {} } inference { plain {} }") {
  std::vector<std::string> lines;
  for (const FieldProblem& problem : FindMethodProblems(Parse(method + rest))) {
    lines.push_back(absl::StrCat(problem.path, ": ", problem.message));
  }
  return lines;
}

TEST(CheckMethod, AcceptsPartsThatFit) {
  EXPECT_THAT(Problems("input { channels: 3 } loss { term { cross_entropy {} } }"), IsEmpty());
  EXPECT_THAT(Problems("input { channels: 3 } open_set { feature_mixup {} } loss { term { open_auc {} } }"), IsEmpty());
}

TEST(CheckMethod, NamesTheTermThatLacksItsOpenSet) {
  EXPECT_THAT(Problems("input { channels: 3 } loss { term { cross_entropy {} } term { open_auc {} } }"),
              ElementsAre(HasSubstr("loss.term[1]: needs samples that stand for unknown classes")));
}

TEST(CheckMethod, TermsOverPointsNeedAHeadThatHasThem) {
  const std::string rest = "input { channels: 3 } loss { term { gcpl {} } }";
  EXPECT_THAT(Problems("model { head { prototype {} } }" + rest), IsEmpty());
  EXPECT_THAT(Problems("model { head { linear {} } }" + rest),
              ElementsAre(HasSubstr("loss.term[0]: needs a point per class")));
}

TEST(CheckMethod, PairsBySlotNeedASourceThatMakesThem) {
  const std::string rest = "input { channels: 3 } open_set { noise_images {} } loss { term { open_auc { ";
  EXPECT_THAT(Problems(rest + "pairs: ALL } } }"), IsEmpty());
  EXPECT_THAT(Problems(rest + "pairs: SAME_SLOT } } }"), ElementsAre(HasSubstr("loss.term[0]: pairs by slot")));
}

TEST(CheckMethod, TheScoreOfTheExtraOutputNeedsOne) {
  const std::string rest = "input { channels: 3 } loss { term { cross_entropy {} } } inference { plain {} }";
  EXPECT_THAT(Problems("model { head { linear {} extra_outputs: 1 } }" + rest, "score { extra_output {} }"), IsEmpty());
  EXPECT_THAT(Problems("model { head { linear {} } }" + rest, "score { extra_output {} }"),
              ElementsAre(HasSubstr("score: needs an output for the unknown class")));
}

TEST(CheckMethod, NamesAnOpenSetThatNobodyUses) {
  EXPECT_THAT(Problems("input { channels: 3 } open_set { feature_mixup {} } loss { term { cross_entropy {} } }"),
              ElementsAre("open_set: no loss term uses it"));
}

TEST(CheckMethod, AMeanOfPassesIsScoredByItsLogitsOnly) {
  const std::string method = "input { channels: 3 } loss { term { cross_entropy {} } } inference { ensemble {} }";
  EXPECT_THAT(Problems(method, "score { energy {} }"), IsEmpty());
  EXPECT_THAT(Problems(method, "score { knn {} }"), ElementsAre(HasSubstr("score: needs features")));
}

TEST(CheckMethod, CountsNormalisationValues) {
  EXPECT_THAT(Problems("input { channels: 3 mean: 0.5 std: 0.5 } loss { term { cross_entropy {} } }"), IsEmpty());
  EXPECT_THAT(Problems("input { channels: 1 mean: [0.5, 0.5] std: [1, 1, 1] } loss { term { cross_entropy {} } }"),
              ElementsAre("input.mean: has 2 values for 1 channels", "input.std: has 3 values for 1 channels"));
}

TEST(CheckMethod, CountsTheViewsOfATerm) {
  const std::string term = "input { channels: 3 } loss { term { jsd_consistency { extra_views: 2 } } } ";
  EXPECT_THAT(Problems(term + "views { count: 2 }"), IsEmpty());
  EXPECT_THAT(Problems(term), ElementsAre("loss.term[0]: needs 2 views of each image, not 0: set views.count"));
  EXPECT_THAT(Problems(term + "views { count: 3 }"), ElementsAre(HasSubstr("needs 2 views of each image, not 3")));
  EXPECT_THAT(Problems("input { channels: 3 } loss { term { cross_entropy {} } } views { count: 2 }"),
              ElementsAre("views: no loss term uses them"));
}

TEST(CheckMethod, GeneratedImagesHaveASizeThatIsAPowerOfTwo) {
  const std::string method =
      "model { head { reciprocal_point {} } } loss { term { confusing_samples {} } term { cross_entropy {} } } "
      "open_set { confusing_images {} plain_passes: 1 } ";
  EXPECT_THAT(Problems(method + "input { channels: 3 size: 16 }"), IsEmpty());
  EXPECT_THAT(
      Problems(method + "input { channels: 3 size: 28 }"),
      ElementsAre("open_set.confusing_images: makes images whose size is a power of two, at least 8; input.size "
                  "is 28"));
}

TEST(CheckMethod, APassWithoutTheOpenSetNeedsATermOfItsOwn) {
  EXPECT_THAT(Problems("input { channels: 3 } open_set { noise_images {} plain_passes: 1 } "
                       "loss { term { outlier_exposure {} } }"),
              ElementsAre(HasSubstr("open_set.plain_passes: all terms need the open set")));
}

TEST(CheckMethod, APretrainingIsCheckedLikeATraining) {
  EXPECT_THAT(Problems("input { channels: 3 } loss { term { cross_entropy {} } } "
                       "pretraining { loss { term { cross_entropy {} } term { open_auc {} } } }"),
              ElementsAre(HasSubstr("pretraining.loss.term[1]: needs samples that stand for unknown classes")));
}

TEST(CheckMethod, NormalisedLogitsHaveNoLinearHead) {
  EXPECT_THAT(Problems("model { head { linear { normalise_logits: true } } } input { channels: 3 } "
                       "loss { term { cross_entropy {} } }",
                       "score { react {} } inference { plain {} }"),
              ElementsAre(HasSubstr("score: needs logits that are not normalised")));
}

}  // namespace
}  // namespace openset
