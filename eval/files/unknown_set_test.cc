#include "eval/files/unknown_set.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two known samples among unknown ones of the sets "near", "far", "near".
SampleSet FiveSamples() {
  SampleSet samples;
  samples.num_samples = 5;
  samples.num_classes = samples.num_outputs = 2;
  samples.label = {0, kUnknownLabel, kUnknownLabel, 1, kUnknownLabel};
  samples.group = {0, 0, 1, 0, 0};
  samples.groups = {{"near"}, {"far"}};
  samples.prediction = {0, 0, 1, 1, 0};
  samples.unknown_score = {0.1, 0.2, 0.3, 0.4, 0.5};
  samples.logits = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  return samples;
}

TEST(OnlyUnknownSet, KeepsKnownSamplesAndThoseOfTheSet) {
  const absl::StatusOr<SampleSet> far = OnlyUnknownSet(FiveSamples(), "far");
  ASSERT_TRUE(far.ok()) << far.status();
  EXPECT_EQ(far->num_samples, 3);
  EXPECT_THAT(far->label, ElementsAre(0, kUnknownLabel, 1));
  EXPECT_THAT(far->prediction, ElementsAre(0, 1, 1));
  EXPECT_THAT(far->unknown_score, ElementsAre(0.1, 0.3, 0.4));
  EXPECT_THAT(far->logits, ElementsAre(0, 1, 4, 5, 6, 7));
  EXPECT_THAT(far->features, IsEmpty());
  EXPECT_THAT(far->groups, IsEmpty());
  EXPECT_TRUE(far->Input().ok());
  EXPECT_EQ(OnlyUnknownSet(FiveSamples(), "near")->num_samples, 4);
}

// The score's own logits, which calibration uses.
TEST(OnlyUnknownSet, KeepsProbabilitiesOfTheScore) {
  SampleSet samples = FiveSamples();
  samples.probability_outputs = 3;
  for (int i = 0; i < 15; ++i) samples.probability_logits.push_back(static_cast<float>(i));
  const absl::StatusOr<SampleSet> far = OnlyUnknownSet(samples, "far");
  ASSERT_TRUE(far.ok()) << far.status();
  EXPECT_THAT(far->probability_logits, ElementsAre(0, 1, 2, 6, 7, 8, 9, 10, 11));
  EXPECT_EQ(far->probability_outputs, 3);
  EXPECT_EQ(far->Input()->num_outputs(), 3);
}

// The fields of samples other than scores.
TEST(OnlyUnknownSet, KeepsKnownSamples) {
  SampleSet samples = FiveSamples();
  samples.feature_dim = 1;
  samples.features = {0, 1, 2, 3, 4};
  samples.member_uncertainty = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4};
  samples.known_set = {0, -1, -1, 1, -1};
  samples.known_sets = {"clean", "blurred"};
  const absl::StatusOr<SampleSet> far = OnlyUnknownSet(samples, "far");
  ASSERT_TRUE(far.ok()) << far.status();
  EXPECT_THAT(far->features, ElementsAre(0, 2, 3));
  EXPECT_THAT(far->member_uncertainty, ElementsAre(0, 0, 0, 2, 2, 2, 3, 3, 3));
  EXPECT_THAT(far->known_set, ElementsAre(0, -1, 1));
  EXPECT_THAT(far->known_sets, ElementsAre("clean", "blurred"));
}

TEST(OnlyUnknownSet, RefusesArraysThatAreNotOfAllSamples) {
  SampleSet samples = FiveSamples();
  samples.member_uncertainty = {0, 0, 0};
  EXPECT_EQ(std::string(OnlyUnknownSet(samples, "far").status().message()),
            "array 'member_uncertainty' has 3 values, not 15 for all samples");
  samples = FiveSamples();
  samples.group.pop_back();
  EXPECT_THAT(std::string(OnlyUnknownSet(samples, "far").status().message()), HasSubstr("array 'group' has 4 values"));
}

TEST(OnlyUnknownSet, Refuses) {
  EXPECT_THAT(std::string(OnlyUnknownSet(FiveSamples(), "fra").status().message()),
              HasSubstr("unknown group 'fra'; did you mean 'far'?"));
  SampleSet samples = FiveSamples();
  samples.group.clear();
  samples.groups.clear();
  EXPECT_THAT(std::string(OnlyUnknownSet(samples, "far").status().message()), HasSubstr("there is no group 'far'"));
}

}  // namespace
}  // namespace openset
