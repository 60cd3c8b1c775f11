#include "experiments/spec/spec_changes.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/spec_sandbox.h"
#include "losses/loss.pb.h"

namespace openset {
namespace {

class SpecChangesTest : public ::testing::Test {
 protected:
  absl::StatusOr<Experiment> Load(const SpecChanges& changes, const std::string& more = "method: 'pairs'") {
    sandbox_.Write("experiments/specs/spec.textproto", absl::StrCat(kMinimalSpec, more));
    return LoadExperiment("spec", sandbox_.folders(), changes);
  }

  const SpecSandbox sandbox_;
};

TEST_F(SpecChangesTest, OverrideEverythingElse) {
  SpecChanges changes;
  changes.set = {"training.epochs=7", "loss.open_auc.lambda=0.2", "train_limit_per_class=3", "training.epochs=5"};
  changes.seeds = "0..2,9";
  ASSERT_OK_AND_ASSIGN(const Experiment experiment,
                       Load(changes, "method: 'pairs' override { training { epochs: 3 } }"));
  EXPECT_THAT(experiment.spec.seed(), ElementsAre(0, 1, 2, 9));
  EXPECT_EQ(experiment.spec.train_limit_per_class(), 3);
  for (const LoadedMethod& method : experiment.methods) EXPECT_EQ(method.spec.training().epochs(), 5);
  EXPECT_EQ(experiment.methods[1].spec.loss().term(0).lambda(), 0.2);
  EXPECT_FALSE(experiment.methods[0].spec.loss().term(0).has_lambda());

  // Records list the changes.
  ASSERT_OK_AND_ASSIGN(const std::vector<Trial> trials, Expand(experiment));
  const TrialSpec trial = trials.at(0).Spec();
  EXPECT_THAT(trial.overrides(),
              ElementsAre("--set=training.epochs=7", "--set=loss.open_auc.lambda=0.2", "--set=train_limit_per_class=3",
                          "--set=training.epochs=5", "--seeds=0..2,9"));
  EXPECT_EQ(trial.experiment(), "spec");
  EXPECT_EQ(trial.spec_sha256().size(), 64);
}

TEST_F(SpecChangesTest, AnAxisIsAddedToTheStudy) {
  SpecChanges changes;
  changes.axis = {"training.epochs=1,2", "training.batch_size=3,4,5"};
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, Load(changes, "method: 'pairs'"));
  EXPECT_EQ(Expand(experiment)->size(), Expand(*Load({}, "method: 'pairs'"))->size() * 2 * 3);
  EXPECT_THAT(experiment.overrides, ElementsAre("--axis=training.epochs=1,2", "--axis=training.batch_size=3,4,5"));
  for (const char* axis : {"training.epochs", "=1", "training.epochs="}) {
    changes.axis = {axis};
    EXPECT_THAT(Load(changes), IsInvalidArgument(absl::StrCat("--axis=", axis, ": write PATH=VALUE,VALUE")));
  }
}

TEST_F(SpecChangesTest, UntilNamesAMetricOfTheStudyOrHasAllFields) {
  SpecChanges changes;
  changes.until = "acc: 1.5";
  absl::StatusOr<Experiment> experiment = Load(changes, "until { metric { auroc {} } difference: 3 max_splits: 4 }");
  ASSERT_THAT(experiment, IsOk());
  EXPECT_TRUE(experiment->spec.until().metric().has_accuracy());
  EXPECT_EQ(experiment->spec.until().difference(), 1.5);
  EXPECT_FALSE(experiment->spec.until().has_max_splits());  // replaced as a whole
  EXPECT_THAT(experiment->overrides, ElementsAre("--until=acc: 1.5"));
  changes.until = "metric { accuracy {} } difference: 2 max_seeds: 3";
  changes.set = {"until.max_splits=9"};
  experiment = Load(changes);
  ASSERT_THAT(experiment, IsOk());
  EXPECT_EQ(experiment->spec.until().max_seeds(), 3);
  EXPECT_EQ(experiment->spec.until().max_splits(), 9);
  changes.set.clear();
  changes.until = "accuracy: 2.5 max_seeds: 3, max_splits: 7";
  experiment = Load(changes);
  ASSERT_THAT(experiment, IsOk());
  EXPECT_TRUE(experiment->spec.until().metric().has_accuracy());
  EXPECT_EQ(experiment->spec.until().difference(), 2.5);
  EXPECT_EQ(experiment->spec.until().max_seeds(), 3);
  EXPECT_EQ(experiment->spec.until().max_splits(), 7);
  for (const auto& [text, problem] :
       {std::pair{"accuracy", "write METRIC: DIFFERENCE"}, std::pair{"accuracy: much", "write METRIC: DIFFERENCE"},
        std::pair{"accuracy: 1 max_seed: 2", "did you mean 'max_seeds'"},
        std::pair{"auroc: 1", "unknown metric of this study 'auroc'"}, std::pair{"accuracy: 0", "until.difference"},
        std::pair{"metric { accuracy {} } size: 1", "size"}, std::pair{"metric { accuracy {} }", "until.difference"}}) {
    changes.until = text;
    EXPECT_THAT(Load(changes), IsInvalidArgument(problem)) << text;
  }
}

TEST_F(SpecChangesTest, MethodsThatAreLeftOutMayBeNamedStill) {
  SpecChanges changes;
  changes.methods = {"plain"};
  const std::string more = "method: 'pairs' axis { path: 'training.epochs' value: ['1', '2'] method: 'pairs' }";
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, Load(changes, more));
  EXPECT_THAT(experiment.left_out_methods, ElementsAre("pairs"));
  EXPECT_EQ(Expand(experiment)->size(), 1);
  changes.methods = {"pairs"};
  EXPECT_EQ(Expand(*Load(changes, more))->size(), 2);
  changes.methods = {"plian"};
  EXPECT_THAT(Load(changes), IsInvalidArgument("--methods: "));
}

// softmax of a study with softmax+laptop is that one, not another recipe.
TEST_F(SpecChangesTest, MethodsMayBeNamedWithoutTheirPresets) {
  SpecChanges changes;
  changes.methods = {"pairs"};
  sandbox_.Write("experiments/presets/fast.textproto", "training { epochs: 1 }");
  sandbox_.Write("experiments/presets/slow.textproto", "training { epochs: 2 }");
  ASSERT_OK_AND_ASSIGN(Experiment experiment, Load(changes, "method: 'pairs+fast'"));
  EXPECT_EQ(experiment.methods[0].spec.name(), "pairs+fast");
  EXPECT_THAT(experiment.left_out_methods, ElementsAre("plain"));
  const std::string both = "method: 'pairs+fast' method: 'pairs+slow'";
  EXPECT_THAT(Load(changes, both).status(),
              IsInvalidArgument("--methods: 'pairs' may be pairs+fast or pairs+slow of the study: write which"));
  changes.methods = {"pairs+slow"};
  EXPECT_EQ(Load(changes, both)->methods[0].spec.name(), "pairs+slow");
  changes.methods = {"pairs"};  // a study that has it, or none of its forms
  EXPECT_EQ(Load(changes, absl::StrCat(both, " method: 'pairs'"))->methods[0].spec.name(), "pairs");
  EXPECT_EQ(Load(changes, "")->methods[0].spec.name(), "pairs");
}

TEST_F(SpecChangesTest, ErrorsNameTheFlag) {
  for (const auto& [set, message] : std::vector<std::pair<const char*, const char*>>{
           {"training.epochs", "--set=training.epochs: write PATH=VALUE"},
           {"=5", "write PATH=VALUE"},
           {"trainin.epochs=5", "--set=trainin.epochs=5: "},
           {"training.epoch=5", "did you mean 'epochs'"},
           {"training.epochs=many", "--set=training.epochs=many: plain: "},
           {"lr=0.1", "did you mean training.optimizer.learning_rate=0.1?"},
           {"training.lr=1", "did you mean training.optimizer.learning"},
           {"training.epochs=1,2", "several values, --axis=training.epochs=1,2"},
           {"train_limit_per_class=-1", "train_limit_per_class"},
           {"model.weights.file=x.pt", "name files in a spec"}}) {
    SpecChanges changes;
    changes.set = {set};
    EXPECT_THAT(Load(changes), IsInvalidArgument(message)) << set;
  }
  SpecChanges lr;
  lr.axis = {"lr=0.1,0.2"};
  EXPECT_THAT(Load(lr), IsInvalidArgument("--axis=lr=0.1,0.2: a method has no field 'lr'; did you mean "
                                          "training.optimizer.learning_rate?"));
  SpecChanges of_study;
  of_study.axis = {"unknown_classes=1,2"};
  EXPECT_THAT(Load(of_study), IsInvalidArgument("--set 'unknown_classes=[1,2]'"));
  for (const char* seeds : {"a", "3..1", "0,,1", "-1", "0..99999999999"}) {
    SpecChanges changes;
    changes.seeds = seeds;
    EXPECT_THAT(Load(changes), IsInvalidArgument("--seeds=")) << seeds;
  }
  // A value that the schema's rules refuse is found when the method is resolved.
  SpecChanges changes;
  changes.set = {"training.epochs=0"};
  EXPECT_THAT(Expand(*Load(changes)), IsInvalidArgument("--set=training.epochs=0: training.epochs: "));
}

ExperimentSpec Written() {
  return Parsed<ExperimentSpec>(
      "name: 's' task: 't' method: 'a' method: 'b' seed: [0, 1] "
      "override { training { epochs: 5 batch_size: 128 } }");
}

// The texts of the lines that are marked, or of the others.
std::vector<std::string> Texts(const std::vector<SpecLine>& lines, bool changed) {
  std::vector<std::string> texts;
  for (const SpecLine& line : lines) {
    if (line.changed == changed) texts.push_back(line.text);
  }
  return texts;
}

TEST(VariantName, IsReadableAndDiffers) {
  EXPECT_EQ(VariantName("critters", {}), "critters");
  EXPECT_EQ(VariantName("critters", {"--set=training.epochs=5"}), "critters+epochs=5");
  EXPECT_EQ(VariantName("critters", {"--set=loss.open_auc.lambda=0.2", "--seeds=0..4"}),
            "critters+loss.open_auc.lambda=0.2+seeds=0..4");
  EXPECT_EQ(VariantName("critters", {"--axis=training.epochs=5,10"}), "critters+axis-epochs=5,10");
  EXPECT_EQ(VariantName("critters", {"--methods=softmax+laptop"}), "critters+methods=softmax+laptop");
  EXPECT_EQ(VariantName("critters", {"--until=auroc: 1.0"}), "critters+until=auroc-1.0");
  EXPECT_THAT(VariantName("critters", {"--until=metric { auroc {} } difference: 1"}),
              testing::MatchesRegex("critters\\+[0-9a-f]{8}"));
  // Not a name of a folder, long, or as two changes together: 8 digits of the SHA-256.
  const std::vector<std::vector<std::string>> others = {
      {"--set=model=vgg32 {}"}, {"--set=a=../b"}, {"--set=a=1+b=2"}, {"--methods=" + std::string(60, 'a')}};
  for (const std::vector<std::string>& change : others) {
    EXPECT_THAT(VariantName("critters", change), testing::MatchesRegex("critters\\+[0-9a-f]{8}"));
  }
  EXPECT_NE(VariantName("critters", {"--set=a=1+b=2"}), VariantName("critters", {"--set=a=1", "--set=b=2"}));
}

TEST(CheckTags, WantsDifferentNames) {
  EXPECT_TRUE(CheckTags({"first", "b-2"}).ok());
  EXPECT_THAT(std::string(CheckTags({"a b"}).message()), HasSubstr("--tag: "));
  EXPECT_EQ(CheckTags({"a", "a"}), absl::InvalidArgumentError("--tag: 'a' is given twice"));
}

TEST(ChangedSpecLines, MarksChangesByTheCommandLine) {
  SpecChanges changes;
  changes.set = {"training.epochs=2", "train_limit_per_class=300"};
  changes.seeds = "0,7";
  ExperimentSpec changed = Written();
  ASSERT_THAT(ChangeSpec(changes, &changed), IsOk());
  const std::vector<SpecLine> lines = ChangedSpecLines(Written(), changed, changes.Texts());
  EXPECT_THAT(Texts(lines, true), ElementsAre("    epochs: 2", "seed: 7", "train_limit_per_class: 300"));
  EXPECT_THAT(Texts(lines, false),
              ElementsAre("name: \"s\"", "task: \"t\"", "method: \"a\"", "method: \"b\"", "override {", "  training {",
                          "    batch_size: 128", "  }", "}", "seed: 0"));
}

TEST(ChangedSpecLines, NothingIsMarkedWithoutChanges) {
  EXPECT_THAT(Texts(ChangedSpecLines(Written(), Written(), {}), true), IsEmpty());
}

// The override has no loss term, because only the methods' files say which terms they have.
TEST(ChangedSpecLines, AFlagWithoutAFieldHasItsOwnLine) {
  const std::vector<SpecLine> lines = ChangedSpecLines(Written(), Written(), {"--set=loss.open_auc.lambda=0.2"});
  EXPECT_THAT(Texts(lines, true), ElementsAre("# --set=loss.open_auc.lambda=0.2"));
  EXPECT_EQ(lines.back().text, "# --set=loss.open_auc.lambda=0.2");
}

}  // namespace
}  // namespace openset
