#include "experiments/spec/experiment_file.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/spec_sandbox.h"
#include "models/model.pb.h"

namespace openset {
namespace {

// Not the content of a file of weights, but its beginning.
constexpr char kAbc[] = "PK\x03\x04 abc", kDef[] = "PK\x03\x04 def";

constexpr char kImported[] = R"(
model {
  osrci_cnn {}
  head { linear {} }
  weights { file: "../weights" %s }
}
input { size: 20 channels: 1 }
inference { plain {} }
score { max_softmax {} }
)";

std::string Imported(const std::string& more = "") {
  std::string text = kImported;
  return text.replace(text.find("%s"), 2, more);
}

constexpr char kSpec[] = "name: 'spec' task: 'task' method: 'imported' split: 0 seed: 0 metric { accuracy {} } ";

TEST(ExperimentFile, FilesAreRelativeToTheFileThatNamesThem) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/imported.textproto", Imported());
  sandbox.Write("experiments/weights", kAbc);
  auto experiment = sandbox.Load(kSpec);
  ASSERT_THAT(experiment, IsOk());
  EXPECT_EQ(experiment->methods[0].spec.model().weights().file(), sandbox.folder() + "/experiments/weights");
  EXPECT_EQ(experiment->methods[0].spec.model().weights().sha256(), Sha256Hex(kAbc));

  sandbox.Write("experiments/specs/others", kDef);
  experiment = sandbox.Load(absl::StrCat(kSpec, "override { model { weights { file: 'others' } } }"));
  ASSERT_THAT(experiment, IsOk());
  EXPECT_EQ(experiment->methods[0].spec.model().weights().file(), sandbox.folder() + "/experiments/specs/others");
  EXPECT_EQ(experiment->methods[0].spec.model().weights().sha256(), Sha256Hex(kDef));
}

// The content is part of a trial's digest, the path is not.
TEST(ExperimentFile, TheFilesContentDecides) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/imported.textproto", Imported());
  const auto id = [&sandbox](const std::string& file, const std::string& content) {
    sandbox.Write("experiments/weights", kDef);
    sandbox.Write("experiments/specs/" + file, content);
    const auto experiment = sandbox.Load(absl::StrCat(kSpec, "override { model { weights { file: '", file, "' } } }"));
    EXPECT_THAT(experiment, IsOk());
    const auto trials = Expand(*experiment);
    EXPECT_THAT(trials, IsOk());
    EXPECT_FALSE(MakeTraining(trials->at(0)).train().has_training());
    return TrialId(trials->at(0));
  };
  EXPECT_EQ(id("one", kAbc), id("two", kAbc));
  EXPECT_NE(id("one", kAbc), id("one", kDef));
}

TEST(ExperimentFile, ErrorsNameTheFile) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/imported.textproto", Imported());
  EXPECT_THAT(sandbox.Load(kSpec), IsInvalidArgument("methods/imported.textproto:5: model.weights.file: cannot open "));
  sandbox.Write("experiments/weights", kAbc);
  EXPECT_THAT(sandbox.Load(absl::StrCat(kSpec, "override { model { weights { file: 'others' } } }")),
              IsInvalidArgument("spec.textproto:1: override.model.weights.file: cannot open "));
  sandbox.Write("experiments/methods/imported.textproto", Imported("sha256: '" + Sha256Hex(kDef) + "'"));
  EXPECT_THAT(sandbox.Load(kSpec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("imported.textproto:5: model.weights.sha256: "), HasSubstr(" has the SHA-256 "),
                             EndsWith("restore the original file, or correct this"))));
}

// Its results may be in the store.
TEST(ExperimentFile, AFileWithADigestMayBeAbsent) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/imported.textproto", Imported("sha256: '" + Sha256Hex(kDef) + "'"));
  EXPECT_THAT(sandbox.Load(kSpec), IsOk());
}

// Trials start from the weights of their splits, and have the same ids as trials whose methods name these files.
TEST(ExperimentFile, WeightsOfSplits) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/imported.textproto", Imported());
  sandbox.Write("experiments/weights", kAbc);
  sandbox.Write("experiments/specs/w0", kAbc);
  const auto load = [&sandbox](const std::string& file, const std::string& splits) {
    return sandbox.Load(
        absl::StrCat("name: 'spec' task: 'task' method: 'imported' seed: 0 metric { accuracy {} } split: ", splits,
                     "\noverride { model { weights { file: '", file, "' } } }"));
  };
  const auto expand = [&load](const std::string& file, const std::string& splits) {
    std::vector<std::string> ids;
    const auto experiment = load(file, splits);
    EXPECT_THAT(experiment, IsOk());
    const auto trials = Expand(*experiment);
    EXPECT_THAT(trials, IsOk());
    for (const Trial& trial : *trials) ids.push_back(TrialId(trial));
    return ids;
  };
  sandbox.Write("experiments/specs/w1", kDef);
  const std::vector<std::string> both = expand("w{split}", "[0, 1]");
  ASSERT_EQ(both.size(), 2);
  EXPECT_EQ(both[0], expand("w0", "0")[0]);
  EXPECT_EQ(both[1], expand("w1", "1")[0]);
  EXPECT_NE(both[1], expand("w0", "1")[0]);
  std::filesystem::remove(sandbox.folder() + "/experiments/specs/w1");
  EXPECT_THAT(
      load("w{split}", "[0, 1]"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("spec.textproto:2: override.model.weights.file: cannot open "), HasSubstr("w1"))));
}

TEST(ExperimentFile, AnAxisOfFilesGivesTheirDigests) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/imported.textproto", Imported());
  sandbox.Write("experiments/weights", kAbc);
  const auto expand = [&sandbox](const std::string& value) {
    const auto experiment = sandbox.Load(absl::StrCat(kSpec, "axis { path: 'model.weights' value: \"", value, "\" }"));
    EXPECT_THAT(experiment, IsOk());
    return Expand(*experiment).status();
  };
  EXPECT_THAT(expand("{ file: '/a' sha256: '" + Sha256Hex(kAbc) + "' }"), IsOk());
  EXPECT_THAT(expand("{ file: '/a' }"), IsInvalidArgument("must be set if an axis sets the file"));
}

// A recipe for one task. Other tasks, other methods and all names don't change.
TEST(LoadExperiment, TaskPresetsOverrideMethodsOnTheirTasks) {
  const SpecSandbox sandbox;
  sandbox.Write("data/tasks/other.textproto",
                "name: 'other' data_set: 'digits' split { known: [0, 1, 2] unknown: [3, 4] }");
  sandbox.Write("experiments/presets/long.textproto", "training { epochs: 77 }");
  sandbox.Write("experiments/presets/longer.textproto", "training { epochs: 78 }");
  const std::string spec =
      "name: 'spec' task: ['task', 'other'] method: ['plain', 'pairs'] seed: 0 metric { accuracy {} } ";
  ASSERT_OK_AND_ASSIGN(
      const Experiment experiment,
      sandbox.Load(absl::StrCat(spec, "task_preset { task: 'other' method: 'pairs' preset: ['long', 'longer'] }")));
  EXPECT_EQ(experiment.MethodOn(1, 1).spec.training().epochs(), 78);
  EXPECT_EQ(experiment.MethodOn(1, 1).spec.name(), "pairs");
  for (const auto& [task, method] : {std::pair{0, 0}, {0, 1}, {1, 0}}) {
    EXPECT_EQ(experiment.MethodOn(task, method).spec.training().epochs(),
              experiment.methods[method].spec.training().epochs());
    EXPECT_LT(experiment.MethodOn(task, method).spec.training().epochs(), 77);
  }
  EXPECT_THAT(sandbox.Load(absl::StrCat(spec, "task_preset { task: 'othr' preset: 'long' }")).status().message(),
              HasSubstr("task_preset[0].task[0]: unknown task of this experiment 'othr'; did you mean 'other'?"));
  EXPECT_THAT(sandbox.Load(absl::StrCat(spec, "task_preset { task: 'other' preset: 'lng' }")).status().message(),
              HasSubstr("task_preset[0].preset: unknown preset 'lng'"));
}

TEST(LoadExperiment, TheReportSectionIsCheckedBeforeAnythingRuns) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/published/paper.textproto",
                "name: 'paper' paper: 'Them' table: '1' column { label: 'a' task: 'task' metric { accuracy {} } } "
                "row { label: 'x' method: 'plain' cell { value: 50 } }");
  ASSERT_OK_AND_ASSIGN(const Experiment experiment,
                       sandbox.Load(absl::StrCat(kMinimalSpec,
                                                 "report { published { name: 'paper' } row: 'method' column: 'metric' "
                                                 "baseline: 'plain' }")));
  ASSERT_EQ(experiment.published.size(), 1);
  EXPECT_EQ(experiment.published[0].row(0).cell(0).value(), 50);
  // The baseline may be a row of a sweep.
  const std::string sweep =
      absl::StrCat(kMinimalSpec, "axis { path: 'training.epochs' value: ['1', '2'] } report { baseline: ");
  for (const char* baseline : {"plain", "plain, epochs 2", "epochs 2", "epochs=2"}) {
    EXPECT_TRUE(sandbox.Load(absl::StrCat(sweep, "'", baseline, "' }")).ok()) << baseline;
  }
  EXPECT_THAT(sandbox.Load(absl::StrCat(sweep, "'epochs 3' }")).status().message(),
              HasSubstr("report.baseline: unknown method or swept value of this experiment 'epochs 3'"));
  EXPECT_THAT(sandbox.Load(absl::StrCat(sweep, "'plain, epochs=3' }")).status().message(),
              HasSubstr("report.baseline: unknown swept value of this experiment 'epochs 3'"));
  for (const auto& [report, message] :
       {std::pair{"published { name: 'papr' }", "report.published[0].name: unknown published numbers 'papr'"},
        {"row: 'metod' column: 'metric'", "report.row[0]: unknown field 'metod'; did you mean 'method'?"},
        {"row: 'method'", "report: has only one of row and column"},
        {"baseline: 'plan'", "report.baseline: unknown method of this experiment 'plan'"}}) {
    EXPECT_THAT(sandbox.Load(absl::StrCat(kMinimalSpec, "report { ", report, " }")).status().message(),
                HasSubstr(message));
  }
}

// The names of other programs, at each place where they may stand.
TEST(ExperimentFile, SuggestsTheFieldsOfOtherNames) {
  const SpecSandbox sandbox;
  for (const auto& [line, message] :
       {std::pair{"lr: 0.1", "; did you mean override { training { optimizer { learning_rate: ... } } }?"},
        {"override { lr: 0.1 }", "; did you mean training { optimizer { learning_rate: ... } }?"},
        {"override { training { lr: 0.1 } }", "; did you mean optimizer { learning_rate: ... }?"},
        {"override { training { optimizer { lr: 0.1 } } }", "; did you mean learning_rate: ...?"},
        {"override { training { scheduler {} } }", "did you mean 'schedule'?"}}) {
    EXPECT_THAT(sandbox.Load(absl::StrCat(kMinimalSpec, line)).status().message(), HasSubstr(message)) << line;
  }
}

}  // namespace
}  // namespace openset
