#include "experiments/spec/resolve/expand.h"

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/testing/spec_sandbox.h"
#include "losses/loss.pb.h"

namespace openset {
namespace {

std::vector<std::string> Described(const std::vector<Trial>& trials) {
  std::vector<std::string> lines;
  for (const Trial& trial : trials) lines.push_back(Describe(trial));
  return lines;
}

std::vector<Trial> MustExpand(const SpecSandbox& sandbox, const std::string& spec) {
  const absl::StatusOr<Experiment> experiment = sandbox.Load(spec);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  if (!experiment.ok()) return {};
  absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
  EXPECT_TRUE(trials.ok()) << trials.status();
  return trials.value_or(std::vector<Trial>{});
}

// The message of the error that loading or expanding gives, without the sandbox's folder.
std::string Error(const SpecSandbox& sandbox, const std::string& spec) {
  const absl::StatusOr<Experiment> experiment = sandbox.Load(spec);
  absl::Status status = experiment.status();
  if (experiment.ok()) status = Expand(*experiment).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  std::string message(status.message());
  for (size_t at; (at = message.find(sandbox.folder() + "/")) != std::string::npos;) {
    message.erase(at, sandbox.folder().size() + 1);
  }
  return message;
}

TEST(Expand, ReturnsTheProductInOrder) {
  const SpecSandbox sandbox;
  const std::vector<Trial> trials = MustExpand(sandbox,
                                               "name: 'spec' task: 'task' method: 'plain' method: 'pairs' "
                                               "seed: [5, 3] metric { accuracy {} }");
  EXPECT_THAT(Described(trials), ElementsAre("plain on task, split 0, seed 5", "plain on task, split 0, seed 3",
                                             "plain on task, split 1, seed 5", "plain on task, split 1, seed 3",
                                             "pairs on task, split 0, seed 5", "pairs on task, split 0, seed 3",
                                             "pairs on task, split 1, seed 5", "pairs on task, split 1, seed 3"));
  std::set<std::string> ids;
  for (const Trial& trial : trials) ids.insert(TrialId(trial));
  EXPECT_EQ(ids.size(), trials.size());
}

TEST(Expand, SweepsAnyFieldForTheMethodsThatHaveIt) {
  const SpecSandbox sandbox;
  const std::vector<Trial> trials = MustExpand(
      sandbox, absl::StrCat(kMinimalSpec,
                            "method: 'pairs'\n"
                            "axis { path: 'loss.open_auc.lambda' value: '0.1' value: '0.2' method: 'pairs' }\n"
                            "axis { path: 'training.batch_size' value: '5' value: '7' name: 'batch' }\n"));
  EXPECT_THAT(Described(trials),
              ElementsAre("plain on task, split 0, seed 0, batch 5", "plain on task, split 0, seed 0, batch 7",
                          "pairs on task, split 0, seed 0, lambda 0.1, batch 5",
                          "pairs on task, split 0, seed 0, lambda 0.1, batch 7",
                          "pairs on task, split 0, seed 0, lambda 0.2, batch 5",
                          "pairs on task, split 0, seed 0, lambda 0.2, batch 7"));
  EXPECT_EQ(trials[3].method().loss().term(0).lambda(), 0.1);
  EXPECT_EQ(trials[3].method().training().batch_size(), 7);
}

TEST(Expand, AnOverridesTermOverridesTheTermOfItsKind) {
  const SpecSandbox sandbox;
  const std::vector<Trial> trials =
      MustExpand(sandbox, absl::StrCat(kMinimalSpec,
                                       "method: 'pairs'\n"
                                       "override { loss { term { cross_entropy { label_smoothing: 0.25 } } } }\n"));
  ASSERT_EQ(trials.size(), 2);
  ASSERT_EQ(trials[0].method().loss().term_size(), 1);
  EXPECT_EQ(trials[0].method().loss().term(0).cross_entropy().label_smoothing(), 0.25);
  ASSERT_EQ(trials[1].method().loss().term_size(), 2);
  EXPECT_TRUE(trials[1].method().loss().term(0).has_open_auc());
  EXPECT_EQ(trials[1].method().loss().term(1).cross_entropy().label_smoothing(), 0.25);
}

TEST(Expand, AnAxisOfOneValueIsASetting) {
  const SpecSandbox sandbox;
  const std::vector<Trial> trials =
      MustExpand(sandbox, absl::StrCat(kMinimalSpec, "method: 'pairs'\n",
                                       "axis { path: 'training.batch_size' value: '5' method: 'pairs' }\n"));
  EXPECT_THAT(Described(trials), ElementsAre("plain on task, split 0, seed 0", "pairs on task, split 0, seed 0"));
  EXPECT_EQ(trials[0].method().training().batch_size(), 10);
  EXPECT_EQ(trials[1].method().training().batch_size(), 5);
}

TEST(Expand, AnAxisCanSetSeveralFields) {
  const SpecSandbox sandbox;
  const std::vector<Trial> trials = MustExpand(
      sandbox,
      absl::StrCat(kMinimalSpec, "axis { path: 'training.batch_size' also: 'training.epochs' value: ['5', '7'] }\n"));
  EXPECT_THAT(Described(trials), ElementsAre("plain on task, split 0, seed 0, batch_size 5",
                                             "plain on task, split 0, seed 0, batch_size 7"));
  EXPECT_EQ(trials[1].method().training().epochs(), 7);
}

TEST(Expand, PresetsOverrideMethodsAndOverridesOverridePresets) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/presets/long.textproto", "training { epochs: 9 batch_size: 4 }");
  sandbox.Write("experiments/presets/slow.textproto", "training { optimizer { learning_rate: 0.001 } epochs: 8 }");
  const std::vector<Trial> trials =
      MustExpand(sandbox, absl::StrCat(kMinimalSpec, "method: 'plain+long+slow' method: 'pairs+long'\n",
                                       "override { training { batch_size: 6 } }"));
  EXPECT_THAT(Described(trials),
              ElementsAre("plain on task, split 0, seed 0", "plain+long+slow on task, split 0, seed 0",
                          "pairs+long on task, split 0, seed 0"));
  EXPECT_EQ(trials[0].method().training().epochs(), 2);
  EXPECT_EQ(trials[1].method().training().epochs(), 8);
  EXPECT_EQ(trials[1].method().training().batch_size(), 6);
  EXPECT_EQ(trials[1].method().training().optimizer().learning_rate(), 0.001);
  EXPECT_EQ(trials[2].method().training().epochs(), 9);
  EXPECT_THAT(Error(sandbox, absl::StrCat(kMinimalSpec, "method: 'plain+lang'")),
              HasSubstr("method[1]: unknown preset 'lang'"));
  // An invalid value is reported at the place that set it.
  sandbox.Write("experiments/presets/long.textproto",
                "\ntraining { epochs: 9 drop_last: true }\ninput { mean: [1, 2] }");
  EXPECT_THAT(Error(sandbox, absl::StrCat(kMinimalSpec, "method: 'plain+long'")),
              HasSubstr("presets/long.textproto:3: input.mean: has 2 values"));
}

TEST(Expand, AnOverrideOfPretrainingIsForThoseThatHaveOne) {
  const SpecSandbox sandbox;
  const std::string stage =
      "pretraining { loss { term { cross_entropy {} } } training { epochs: 5 batch_size: 10 "
      "optimizer { learning_rate: 0.1 sgd {} } schedule { constant {} } } }";
  sandbox.Write("experiments/presets/staged.textproto", stage);
  const std::vector<Trial> trials = MustExpand(
      sandbox,
      absl::StrCat(kMinimalSpec, "method: 'plain+staged'\n", "override { pretraining { training { epochs: 1 } } }"));
  EXPECT_FALSE(trials[0].method().has_pretraining());
  EXPECT_EQ(trials[1].method().pretraining().training().epochs(), 1);
  EXPECT_TRUE(trials[1].method().pretraining().training().optimizer().has_weight_decay());
}

TEST(Expand, ExternalImagesAreTheTasks) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/presets/exposed.textproto",
                "open_set { external_images {} } loss { term { cross_entropy {} } term { outlier_exposure {} } }");
  const std::string spec = absl::StrCat(kMinimalSpec, "method: 'plain+exposed'");
  EXPECT_THAT(Error(sandbox, spec),
              HasSubstr("method plain+exposed trains with external images, and task task names none"));
  sandbox.Write("data/tasks/task.textproto",
                "name: 'task' data_set: 'digits' split { known: [0, 1, 2] unknown: 3 } "
                "external { data_set: 'digits' class_id: 4 }");
  const std::vector<Trial> trials = MustExpand(sandbox, spec);
  EXPECT_THAT(MakeTraining(trials[1]).train().external().class_id(), ElementsAre(4));
  // A method that does not use external images is unaffected.
  EXPECT_FALSE(MakeTraining(trials[0]).train().has_external());
}

TEST(Expand, APretrainingNeedsTheTasksExternalImagesToo) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/presets/exposed.textproto",
                "pretraining { open_set { external_images {} } "
                "loss { term { cross_entropy {} } term { outlier_exposure {} } } training { epochs: 5 batch_size: 10 "
                "optimizer { learning_rate: 0.1 sgd {} } schedule { constant {} } } }");
  EXPECT_THAT(Error(sandbox, absl::StrCat(kMinimalSpec, "method: 'plain+exposed'")),
              HasSubstr("method plain+exposed trains with external images, and task task names none"));
}

TEST(Expand, MetricsTakeTheMethodsThreshold) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/presets/strict.textproto",
                "decision { threshold: -0.9 by_known_classes { known_classes: 2 threshold: -0.7 } }");
  std::string spec =
      "name: 'spec' task: 'task' method: 'plain+strict' split: [0, 1] seed: 0 metric { outer { of_method {} } }";
  const std::vector<Trial> trials = MustExpand(sandbox, spec);
  EXPECT_EQ(trials[0].metric()[0].outer().threshold(), -0.9);
  EXPECT_EQ(trials[1].metric()[0].outer().threshold(), -0.7);
  spec += " method: 'plain'";
  EXPECT_THAT(Error(sandbox, spec), HasSubstr("metric[0]: method plain has no threshold for 3 known classes"));
}

TEST(Expand, OpennessLevelsTakeTheFirstUnknownClasses) {
  const SpecSandbox sandbox;
  const std::vector<Trial> trials =
      MustExpand(sandbox, absl::StrCat(kMinimalSpec, "unknown_classes: 2 unknown_classes: 1\n"));
  ASSERT_EQ(trials.size(), 2);
  EXPECT_THAT(trials[0].data().test_unknown(0).selection().class_id(), ElementsAre(3, 4));
  EXPECT_THAT(trials[1].data().test_unknown(0).selection().class_id(), ElementsAre(3));
  EXPECT_DOUBLE_EQ(trials[1].openness(), 1 - std::sqrt(2.0 * 3 / (2 * 3 + 1)));
  // The levels share their training.
  EXPECT_EQ(MakeTraining(trials[0]).train().SerializeAsString(), MakeTraining(trials[1]).train().SerializeAsString());
}

TEST(Expand, LeavesNoDefaultImplicit) {
  const SpecSandbox sandbox;
  const Trial trial = MustExpand(sandbox, kMinimalSpec)[0];
  EXPECT_TRUE(trial.method().model().osrci_cnn().has_dropout());
  EXPECT_TRUE(trial.method().loss().term(0).has_lambda());
  EXPECT_TRUE(trial.execution().has_precision());
  EXPECT_EQ(trial.execution().device(), ExecutionSpec::CPU);
}

TEST(Expand, TheDeviceCanBeLeftOpenOrFixed) {
  const SpecSandbox sandbox;
  ExpandOptions cuda;
  cuda.default_device = ExecutionSpec::CUDA;
  EXPECT_EQ((*Expand(*sandbox.Load(kMinimalSpec), cuda))[0].execution().device(), ExecutionSpec::CUDA);
  const std::string fixed = absl::StrCat(kMinimalSpec, "execution { device: CPU }");
  EXPECT_EQ((*Expand(*sandbox.Load(fixed), cuda))[0].execution().device(), ExecutionSpec::CPU);
}

TEST(Expand, TheKindOfAGpuIsPartOfATrialAndThatOfACpuIsNot) {
  const SpecSandbox sandbox;
  const auto id_of = [&](const char* execution, ExecutionSpec::Device device, const char* kind) {
    ExpandOptions options;
    options.default_device = device;
    options.device_kind = kind;
    return TrialId((*Expand(*sandbox.Load(absl::StrCat(kMinimalSpec, execution)), options))[0]);
  };
  const std::string h200 = id_of("", ExecutionSpec::CUDA, "NVIDIA H200");
  EXPECT_NE(h200, id_of("", ExecutionSpec::CUDA, "NVIDIA H100"));
  // If a study names the kind of device, its results are found on any machine.
  EXPECT_EQ(h200, id_of("execution { device: CUDA device_kind: 'NVIDIA H200' }", ExecutionSpec::CPU, ""));
  EXPECT_EQ(id_of("", ExecutionSpec::CPU, ""), id_of("execution { device: CPU }", ExecutionSpec::CUDA, "NVIDIA H200"));
}

TEST(Expand, LabelsDecideNoId) {
  const SpecSandbox sandbox;
  const std::string plain = *ReadFile(sandbox.folder() + "/experiments/methods/plain.textproto");
  sandbox.Write("experiments/methods/renamed.textproto",
                absl::StrCat("title: 'Another'", absl::StrReplaceAll(plain, {{"\"plain\"", "\"renamed\""}})));
  const std::vector<Trial> trials = MustExpand(sandbox, absl::StrCat(kMinimalSpec, "method: 'renamed'\n"));
  ASSERT_EQ(trials.size(), 2);
  EXPECT_EQ(trials[1].method().name(), "renamed");
  EXPECT_EQ(TrialId(trials[0]), TrialId(trials[1]));
}

TEST(Expand, IsPure) {
  const SpecSandbox sandbox;
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, sandbox.Load(kMinimalSpec));
  EXPECT_EQ((*Expand(experiment))[0].Spec().SerializeAsString(), (*Expand(experiment))[0].Spec().SerializeAsString());
}

TEST(Expand, OverridesApplyToEveryMethod) {
  const SpecSandbox sandbox;
  const std::vector<Trial> trials =
      MustExpand(sandbox, absl::StrCat(kMinimalSpec, "method: 'pairs' override { training { epochs: 9 } }\n"));
  EXPECT_EQ(trials[0].method().training().epochs(), 9);
  EXPECT_EQ(trials[1].method().training().epochs(), 9);
  EXPECT_EQ(trials[1].method().training().batch_size(), 10);
}

TEST(Expand, ErrorsNameFileLineAndField) {
  const SpecSandbox sandbox;
  const std::string spec = "experiments/specs/spec.textproto";
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "colour: 1")),
            spec +
                ":7:7: unknown field 'colour' (known: name, question, task, method, task_preset, override, axis, "
                "split, unknown_classes, seed, metric, execution, train_limit_per_class, test_limit_per_class, "
                "validation_per_class, search, expected_trials, report, until)");
  EXPECT_EQ(Error(sandbox, "name: 'spec'\ntask: 'task'\nmethod: 'plan'\nseed: 0\nmetric { auroc {} }"),
            spec + ":3: method[0]: unknown method 'plan'; did you mean 'plain'? (known: pairs, plain)");
  EXPECT_EQ(Error(sandbox, "name: 'spec'\ntask: 'tisk'\nmethod: 'plain'\nseed: 0\nmetric { auroc {} }"),
            spec + ":2: task[0]: unknown task 'tisk'; did you mean 'task'? (known: task)");
  EXPECT_EQ(Error(sandbox, "name: 'spec' task: 'task' method: 'plain' metric { auroc {} }"),
            spec + ": seed: must not be empty");
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "\nseed: 0")), spec + ":8: seed[1]: 0 is listed twice");
  EXPECT_THAT(Error(sandbox, absl::StrCat(kMinimalSpec, "metric {}")),
              HasSubstr(spec + ":7: metric[1]: must have one of: accuracy, auroc, "));
  EXPECT_THAT(Error(sandbox, absl::StrCat(kMinimalSpec, "split: 7")), HasSubstr(spec + ": task task: split: "));
  EXPECT_THAT(Error(sandbox, absl::StrCat(kMinimalSpec, "unknown_classes: 3")), HasSubstr("unknown_classes: "));
}

TEST(Expand, MethodErrorsNameTheFileThatSetTheField) {
  const SpecSandbox sandbox;
  const std::string spec = "experiments/specs/spec.textproto";
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "override { training { epochs: 0 } }")),
            spec + ":7: override.training.epochs: must be at least 1 (is 0)");
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "axis { path: 'training.epochs' value: '3' value: '-1' }")),
            spec + ":7: axis[0]: training.epochs: must be at least 1 (is -1)");
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "axis { path: 'loss.term[0].open_auc.pairs' value: 'ALL' }")),
            spec + ":7: axis[0]: plain: loss.term[0].open_auc.pairs: it holds 'cross_entropy', not 'open_auc'");
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "axis { path: 'loss.open_auc.lambda' value: '3' }")),
            spec + ":7: axis[0]: plain: loss.open_auc.lambda: there is no term 'open_auc'; it has cross_entropy");
  EXPECT_THAT(Error(sandbox,
                    absl::StrCat("method: 'pairs' ", kMinimalSpec, "axis { path: 'loss.open_auc.lambda' value: '3' }")),
              HasSubstr("it has cross_entropy; an axis of some methods names them: axis { ... method: 'METHOD' }"));
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "axis { path: 'loss.cross_entropy.lambda' value: '-1' }")),
            spec + ":7: axis[0]: loss.term[0].lambda: must be at least 0 (is -1)");
  // The term is the second of the method, and the first of the override.
  const std::string pairs = absl::StrReplaceAll(kMinimalSpec, {{"plain", "pairs"}});
  EXPECT_EQ(
      Error(sandbox,
            absl::StrCat(pairs, "override { loss { term { cross_entropy { open_set_is_last_class: true } ", "} } }")),
      spec + ":7: override.loss.term[0]: needs an output for the unknown class: set model.head.extra_outputs to 1");
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "axis { path: 'seed' value: '3' method: 'other' }")),
            spec + ":7: axis[0].method[0]: unknown method of this experiment 'other' (known: plain)");
  sandbox.Write("experiments/methods/plain.textproto", "name: 'plain'\ntraining {\n  epochs: -2\n}\n");
  EXPECT_EQ(Error(sandbox, kMinimalSpec),
            "experiments/methods/plain.textproto:3: training.epochs: must be at least 1 (is -2)");
}

TEST(Expand, PartsOfAMethodMustFit) {
  const SpecSandbox sandbox;
  const std::string where = "experiments/specs/spec.textproto:7: override.";
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "override { input { channels: 3 mean: [1, 2] } }")),
            where + "input.mean: has 2 values for 3 channels");
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "override { open_set { feature_mixup {} } }")),
            where + "open_set: no loss term uses it");
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "override { loss { term { open_auc {} } } }")),
            where + "loss.term[0]: needs samples that stand for unknown classes: set open_set");
  EXPECT_THAT(Error(sandbox, absl::StrCat(kMinimalSpec, "override { open_set { feature_mixup {} } ",
                                          "loss { term { cross_entropy { open_set_is_last_class: true } } } }")),
              HasSubstr(where + "loss.term[0]: needs an output for the unknown class"));
}

TEST(Expand, ALearningCurveNeedsItsSamples) {
  const SpecSandbox sandbox;
  const std::string curve = absl::StrCat(kMinimalSpec, "override { training { evaluate_every { epochs: 1 ");
  EXPECT_THAT(
      Error(sandbox, absl::StrCat(curve, "} } }")),
      HasSubstr("method plain measures on validation samples while it trains (training.evaluate_every), and none"));
  const std::vector<Trial> on_test = MustExpand(sandbox, absl::StrCat(curve, "samples: TEST } } }"));
  const std::vector<Trial> kept = MustExpand(sandbox, absl::StrCat(curve, "} } } validation_per_class: 5"));
  ASSERT_EQ(on_test.size(), 1);
  ASSERT_EQ(kept.size(), 1);
  EXPECT_EQ(MakeTraining(on_test[0]).train().evaluation().known().part(), "test");
  EXPECT_EQ(MakeTraining(kept[0]).train().evaluation().known().only_last_per_class(), 5);
  // Without evaluate_every, the training's digest doesn't change.
  EXPECT_FALSE(MakeTraining(MustExpand(sandbox, kMinimalSpec)[0]).train().has_evaluation());
}

// Errors that the worker would otherwise find after the start of a training.
TEST(Expand, LimitsOfModelAndImagesAreNamedByFileAndLine) {
  const SpecSandbox sandbox;
  const std::string where = "experiments/specs/spec.textproto:7: override.";
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "override { input { size: 15 } }")),
            where + "input.size: must be at least 16 for this model (is 15)");
  // The digits are grey: they are repeated for any number of channels.
  EXPECT_EQ(MustExpand(sandbox, absl::StrCat(kMinimalSpec, "override { input { channels: 2 } }"))[0]
                .method()
                .input()
                .channels(),
            2);
  EXPECT_EQ(
      Error(sandbox, absl::StrCat(kMinimalSpec, "override { input { channels: 2 } augmentation { rand_augment {} } }")),
      where + "input.channels: must be 1 or 3 for augmentation[0].rand_augment, which works on colours (is 2)");
  EXPECT_EQ(
      Error(sandbox, absl::StrCat(kMinimalSpec, "override { input { channels: 2 } augmentation { aug_mix {} } }")),
      where + "input.channels: must be 1 or 3 for augmentation[0].aug_mix, which works on colours (is 2)");
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "override { training { batch_size: 61 drop_last: true } }")),
            where + "training.batch_size: is 61, drop_last leaves nothing of the 60 training samples");
  const std::string digits = *ReadFile(sandbox.folder() + "/data/catalog/digits.textproto");
  sandbox.Write(
      "data/catalog/digits.textproto",
      absl::StrReplaceAll(digits, {{"channels: 1", "channels: 3"}, {"idx {", "png_sheet {"}, {"images {", "sheet {"}}));
  EXPECT_EQ(Error(sandbox, absl::StrCat(kMinimalSpec, "override { input { channels: 2 } }")),
            where + "input.channels: is 2, and the images of data set 'digits' have 3");
  EXPECT_EQ(MustExpand(sandbox, kMinimalSpec).size(), 1);  // 1 channel: they become grey
}

TEST(Expand, RefusesTooManyTrialsBeforeMakingThem) {
  const SpecSandbox sandbox;
  std::string spec = kMinimalSpec;
  for (const char* field : {"epochs", "batch_size", "max_steps"}) {
    absl::StrAppend(&spec, "axis { path: 'training.", field, "'");
    for (int v = 1; v <= 1000; ++v) absl::StrAppend(&spec, " value: '", v, "'");
    absl::StrAppend(&spec, " }\n");
  }
  EXPECT_THAT(Error(sandbox, spec), HasSubstr("makes 1000000000 trials ("));
}

// The methods that come with the project, on a model: "" for those that can be used, and why for the others.
std::map<std::string, std::string> OutcomesOn(const std::string& model) {
  const SpecFolders folders = SpecFoldersBelow(JoinPath(*RunfilesFolder(), "openset"));
  std::vector<LoadedMethod> methods;
  for (const std::string& name : MethodNames(folders)) methods.push_back(*LoadMethod(name, folders, ""));
  const size_t count = methods.size();
  const auto made =
      MakePostHoc(std::move(methods), Parsed<ModelSpec>(model), Parsed<InputSpec>("size: 28 channels: 1"));
  EXPECT_THAT(made, IsOk());
  std::map<std::string, std::string> outcomes;
  for (const LoadedMethod& method : made->methods) {
    outcomes[method.spec.name()] = "";
    EXPECT_FALSE(method.spec.has_training() || method.spec.has_loss() || method.spec.augmentation_size() > 0);
    EXPECT_EQ(method.spec.input().size(), 28);
  }
  for (const PostHocMethods::Skipped& skipped : made->skipped) outcomes[skipped.name] = skipped.why;
  EXPECT_EQ(outcomes.size(), count);
  return outcomes;
}

std::string Script(const std::string& fields) {
  return absl::StrCat("torch_script { file: 'f' sha256: 'x' ", fields, " }");
}

TEST(PostHoc, TellsScoresFromTrainings) {
  const auto outcomes = OutcomesOn(Script("head: 'fc'"));
  for (const char* name :
       {"mcp", "max_logit", "energy_score", "entropy", "gen", "react", "ash", "dice", "openmax", "odin", "she", "knn",
        "vim", "mahalanobis", "temperature_scaling", "nci", "adascale_a", "klm"}) {
    EXPECT_THAT(outcomes, Contains(Pair(name, "")));
  }
  for (const char* name : {"arpl", "gcpl", "rpl", "edl", "crl"}) {
    EXPECT_THAT(outcomes, Contains(Pair(name, "is trained with its own loss")));
  }
  EXPECT_THAT(outcomes, Contains(Pair("openauc", HasSubstr("samples that stand for unknown classes"))));
  EXPECT_THAT(outcomes, Contains(Pair("deep_ensemble", "needs several trainings")));
  // Of methods with the same score, the one that shares its training with others is kept.
  EXPECT_THAT(outcomes, Contains(Pair("softmax", "has the same score as mcp")));
  EXPECT_THAT(outcomes, Contains(Pair("ce_plus", "has the same score as max_logit")));
}

TEST(PostHoc, ScoresNeedWhatTheModelHas) {
  const auto logits = OutcomesOn(Script("")), features = OutcomesOn(Script("features: true"));
  EXPECT_THAT(logits, AllOf(Contains(Pair("openmax", "")), Contains(Pair("knn", HasSubstr("--head"))),
                            Contains(Pair("react", HasSubstr("--head")))));
  EXPECT_THAT(features, AllOf(Contains(Pair("knn", "")), Contains(Pair("react", HasSubstr("--head")))));
  EXPECT_THAT(logits, Contains(Pair("mc_dropout", HasSubstr("can't be switched on"))));
  const std::string weights = " head { linear {} } weights { file: 'f' sha256: 'x' }";
  EXPECT_THAT(OutcomesOn("osrci_cnn { dropout: 0.5 }" + weights), Contains(Pair("mc_dropout", "")));
  EXPECT_THAT(OutcomesOn("osrci_cnn { dropout: 0 }" + weights),
              Contains(Pair("mc_dropout", "needs a model with dropout")));
  EXPECT_THAT(OutcomesOn("resnet_imagenet {}" + weights), Contains(Pair("mc_dropout", "needs a model with dropout")));
}

TEST(PostHoc, AModelThatNoMethodCanHaveIsRefused) {
  const SpecFolders folders = SpecFoldersBelow(JoinPath(*RunfilesFolder(), "openset"));
  for (const auto& [model, what] :
       {std::pair<std::string, std::string>{"vgg32 {}", "model.head: must be set"},
        {"vgg32 {} head { linear {} }", "loss: must be set, unless"},
        {"vgg32 { width: 0 } head { linear {} } weights { file: 'f' sha256: 'x' }", "model.vgg32.width: must be"}}) {
    std::vector<LoadedMethod> methods;
    methods.push_back(*LoadMethod("mcp", folders, ""));
    EXPECT_THAT(MakePostHoc(std::move(methods), Parsed<ModelSpec>(model), Parsed<InputSpec>("")),
                IsInvalidArgument(what));
  }
}

}  // namespace
}  // namespace openset
