#include "tools/evaluation/scored_samples.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two samples with logits, or with a score.
absl::StatusOr<SampleSet> Read(bool with_score, const SetRoles& /*roles*/, ScoreDirection direction) {
  ScoreFile file;
  file.path = "samples";
  file.num_samples = 2;
  file.label = {0, -1};
  if (with_score) {
    file.unknown_score = {direction == ScoreDirection::kHigherIsKnown ? -1.0 : 1.0, 2.0};
  } else {
    file.logits = {1, 3, 2, 0};
    file.num_outputs = 2;
  }
  std::vector<ScoreFile> files;
  files.push_back(std::move(file));
  return MakeSampleSet(std::move(files), {});
}

SampleReader Reader(bool with_score) {
  return [with_score](const SetRoles& roles, ScoreDirection direction) { return Read(with_score, roles, direction); };
}

TEST(ScoredSamplesTest, UsesTheGivenScoreOrMaxSoftmax) {
  absl::StatusOr<ScoredSamples> scored = ScoreSamples({}, Reader(true), nullptr);
  ASSERT_TRUE(scored.ok()) << scored.status();
  EXPECT_THAT(scored->samples.unknown_score, ElementsAre(1, 2));
  EXPECT_EQ(scored->note, "unknown score: that of the file");
  EXPECT_EQ(scored->origin, ScoreOrigin::kFile);

  scored = ScoreSamples({}, Reader(false), nullptr);
  ASSERT_TRUE(scored.ok()) << scored.status();
  EXPECT_EQ(scored->note, "unknown score: max_softmax of the logits (--score= takes another)");

  SampleOptions options;
  options.set_score("max_logit");
  scored = ScoreSamples(options, Reader(false), nullptr);
  ASSERT_TRUE(scored.ok()) << scored.status();
  EXPECT_THAT(scored->samples.unknown_score, ElementsAre(-3, -2));
}

TEST(ScoredSamplesTest, NegatesGivenScoresButNotComputedOnes) {
  SampleOptions options;
  options.set_higher_is_known(true);
  const absl::StatusOr<ScoredSamples> scored = ScoreSamples(options, Reader(true), nullptr);
  ASSERT_TRUE(scored.ok()) << scored.status();
  EXPECT_THAT(scored->samples.unknown_score, ElementsAre(-1, 2));
  options.set_score("energy");
  EXPECT_THAT(std::string(ScoreSamples(options, Reader(true), nullptr).status().message()),
              HasSubstr("--higher_is_known: applies to the score in the files"));
}

TEST(ScoredSamplesTest, ReadsTrainingOutputsOnlyForFittedScores) {
  const SampleReader fails = [](const SetRoles&, ScoreDirection) -> absl::StatusOr<SampleSet> {
    return absl::NotFoundError("fit.npz");
  };
  EXPECT_TRUE(ScoreSamples({}, Reader(true), fails).ok());
  EXPECT_EQ(ScoreSamples({}, Reader(false), fails).status().message(), "fit.npz");
}

}  // namespace
}  // namespace openset
