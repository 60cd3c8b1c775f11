#include "experiments/study/source_changes.h"

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

constexpr FingerprintRow kTrain[] = {{"LossTermSpec", "open_auc", "losses/open_auc", "new"}, {}};
constexpr FingerprintRow kInfer[] = {{"ModelSpec", "vgg32", "models/networks/vgg32", "same"}, {}};
constexpr FingerprintRow kEvaluate[] = {{"ScoreSpec", "fdbd", "eval/scores/fdbd", "new"}, {}};

Provenance Parse(const std::string& text) { return Parsed<Provenance>(text); }

TEST(SourceChanges, CountsResultsByTheComponentThatIsAnotherOne) {
  SourceChanges changes({kTrain, kInfer, kEvaluate});
  const std::string train =
      "stage { stage: TRAIN key: 't' component { family: 'LossTermSpec' name: 'open_auc' fingerprint: 'old' } }";
  const std::string infer =
      "stage { stage: INFER key: 'i' component { family: 'ModelSpec' name: 'vgg32' fingerprint: 'same' } }";
  const auto evaluate = [](const std::string& key, const std::string& fingerprint) {
    return "stage { stage: EVALUATE key: '" + key + "' component { family: 'ScoreSpec' name: 'fdbd' fingerprint: '" +
           fingerprint + "' } }";
  };
  changes.Add("a", Parse(infer + evaluate("a", "new")));
  EXPECT_THAT(changes.keys(), IsEmpty());
  EXPECT_THAT(changes.Lines(), IsEmpty());
  EXPECT_TRUE(changes.HasSeen("i"));
  EXPECT_FALSE(changes.HasSeen("t"));

  changes.Add("b", Parse(train + infer + evaluate("b", "old")));
  changes.Add("c", Parse(train + infer + evaluate("c", "new")));
  EXPECT_THAT(changes.keys(), UnorderedElementsAre("b", "t"));
  EXPECT_THAT(
      changes.Lines(),
      ElementsAre("1 result was made by another version of eval/scores/fdbd; --redo=changed makes it again",
                  "2 results were made by another version of losses/open_auc; --redo=changed makes them again"));

  changes.Forget("b");
  EXPECT_THAT(changes.Lines(),
              ElementsAre("1 result was made by another version of losses/open_auc; --redo=changed makes it again"));
}

TEST(SourceChanges, ManyComponentsHaveOneLine) {
  constexpr FingerprintRow kScores[] = {{"ScoreSpec", "a", "scores/a", "new"},
                                        {"ScoreSpec", "b", "scores/b", "new"},
                                        {"ScoreSpec", "c", "scores/c", "new"},
                                        {"ScoreSpec", "d", "scores/d", "new"},
                                        {}};
  SourceChanges changes({kTrain, kInfer, kScores});
  std::string stage = "stage { stage: EVALUATE key: 'e' ";
  for (const char* score : {"a", "b", "c", "d"}) {
    stage += std::string("component { family: 'ScoreSpec' name: '") + score + "' fingerprint: 'old' } ";
  }
  changes.Add("e", Parse(stage + "}"));
  changes.Add("f",
              Parse("stage { stage: EVALUATE key: 'f' component { family: 'ScoreSpec' name: 'b' fingerprint: 'x' } }"));
  EXPECT_THAT(changes.Lines(), ElementsAre("Made by another version of 4 components (scores/a 1 result, scores/b 2, "
                                           "scores/c 1, scores/d 1); --redo=changed makes these results again"));
}

TEST(SourceChanges, ComponentsWithoutFingerprintsAreNotCompared) {
  SourceChanges changes({kTrain, kInfer, kEvaluate});
  changes.Add("a", Parse("stage { stage: TRAIN key: 'a' component { family: 'LossTermSpec' name: 'open_auc' } }"));
  changes.Add("b",
              Parse("stage { stage: TRAIN key: 'b' component { family: 'HeadSpec' name: 'x' fingerprint: 'old' } }"));
  changes.Add("c",
              Parse("stage { key: 'c' component { family: 'LossTermSpec' name: 'open_auc' fingerprint: 'old' } }"));
  EXPECT_THAT(changes.keys(), IsEmpty());
}

// The linked tables contain the families and the names of their targets in the source tree.
TEST(SourcesOfThisProgram, AreThoseOfTheStages) {
  const CurrentSources current = SourcesOfThisProgram();
  EXPECT_EQ(SourcesOf("LossTermSpec", "cross_entropy", current.train).target, "losses/cross_entropy");
  EXPECT_EQ(SourcesOf("ModelSpec", "vgg32", current.infer).target, "models/networks/vgg32");
  EXPECT_EQ(SourcesOf("ScoreSpec", "max_logit", current.evaluate).target, "eval/scores/max_logit");
  EXPECT_EQ(SourcesOf("ScoreSpec", "max_logit", current.evaluate).fingerprint.size(), 64);
  EXPECT_EQ(SourcesOf("FeaturesSpec", "class_means", current.fitted_heads).target, "experiments/arrays/fitted_heads");
}

}  // namespace
}  // namespace openset
