// Each packaged study is valid and has the trials that it states.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/proto_digest.h"
#include "core/testing/status_matchers.h"
#include "data/augment/augment.pb.h"
#include "eval/scores/score.pb.h"
#include "experiments/plan/planner.h"
#include "experiments/plan/search.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/spec/resolve/resolve_method.h"
#include "experiments/spec/trial.h"
#include "losses/loss.pb.h"
#include "models/model.pb.h"

namespace openset {
namespace {

std::string Root() { return JoinPath(RunfilesFolder().value(), "openset"); }

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(JoinPath(Root(), folder))) {
    if (entry.path().extension() == ".textproto") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Names of tests and files can't contain "+".
std::string ParameterName(std::string name) {
  std::replace(name.begin(), name.end(), '+', '_');
  return name;
}

class SpecTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SpecTest, ExpandsToItsNumberOfTrials) {
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, LoadExperiment(GetParam(), SpecFoldersBelow(Root())));
  EXPECT_EQ(experiment.spec.name(), GetParam());
  EXPECT_FALSE(experiment.spec.question().empty());
  ASSERT_TRUE(experiment.spec.has_expected_trials());
  ASSERT_OK_AND_ASSIGN(const std::vector<Trial> trials, Expand(experiment));
  ASSERT_OK_AND_ASSIGN(const std::vector<TrialSearch> searches, ExpandSearches(experiment, trials));
  EXPECT_EQ(static_cast<int>(trials.size() + searches.size()), experiment.spec.expected_trials());
}

TEST_P(SpecTest, ItsPlanHasWorkForEachTrial) {
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, LoadExperiment(GetParam(), SpecFoldersBelow(Root())));
  ASSERT_OK_AND_ASSIGN(const std::vector<Trial> trials, Expand(experiment));
  const Store empty(JoinPath(::testing::TempDir(), "no-store"));
  const Plan plan = MakePlan(trials, empty, [&](const Selection& selection) {
    const absl::StatusOr<int64_t> count = CountSamples(selection, experiment.catalog);
    EXPECT_TRUE(count.ok()) << count.status();
    return count.value_or(0);
  });
  EXPECT_EQ(plan.CountNeeded(ActionKind::kEvaluate), trials.size());
  EXPECT_GT(plan.CountNeeded(ActionKind::kTrain), 0);
  for (const Action& action : plan.actions) {
    if (action.kind == ActionKind::kEvaluate) continue;
    // Imported weights need no training.
    if (action.kind == ActionKind::kTrain && !plan.TrialOf(action).method().has_training()) continue;
    EXPECT_GT(action.work, 0) << Describe(plan.TrialOf(action));
  }
}

// 55 scores of 2 splits and 2 seeds: one training each, and thirteen inferences: of plain test and training images, of
// those for AdaSCALE, of two settings of ODIN, of dropout with and without the disagreement of its passes, and with the
// stages' values for RankFeat (test images), for the Mahalanobis ensemble and for Gram matrices.
TEST(PosthocSweep, TrainsOnceForAllScores) {
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, LoadExperiment("posthoc_sweep", SpecFoldersBelow(Root())));
  ASSERT_OK_AND_ASSIGN(const std::vector<Trial> trials, Expand(experiment));
  const Plan plan =
      MakePlan(trials, Store(JoinPath(::testing::TempDir(), "no-store")), [](const Selection&) { return int64_t{1}; });
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 4);
  EXPECT_EQ(plan.Count(ActionKind::kInfer), 52);
  EXPECT_EQ(plan.Count(ActionKind::kEvaluate), 224);
}

// For each of 2 splits: one training; one pass over the validation images, which the 44 candidates of ODIN share; and
// one pass each over the validation and the training images for the 36 candidates of OpenMax and the 10 of ReAct.
TEST(PosthocSearch, FitsAndScoresFromStoredArrays) {
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, LoadExperiment("posthoc_search", SpecFoldersBelow(Root())));
  ASSERT_OK_AND_ASSIGN(const std::vector<Trial> trials, Expand(experiment));
  ASSERT_OK_AND_ASSIGN(const std::vector<TrialSearch> searches, ExpandSearches(experiment, trials));
  std::vector<Trial> candidates;
  for (const TrialSearch& search : searches) {
    candidates.insert(candidates.end(), search.candidates.begin(), search.candidates.end());
  }
  ASSERT_EQ(candidates.size(), 5 * (44 + 36 + 10));
  const Plan plan = MakePlan(candidates, Store(JoinPath(::testing::TempDir(), "no-store")),
                             [](const Selection&) { return int64_t{1}; });
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 5);
  int passes = 0;
  for (const Action& action : plan.actions) passes += action.kind == ActionKind::kInfer && !action.is_passenger();
  EXPECT_EQ(passes, 5 * 3);
}

INSTANTIATE_TEST_SUITE_P(Specs, SpecTest, ::testing::ValuesIn(NamesIn("experiments/specs")),
                         [](const auto& info) { return info.param; });

// A method has the name of its file and a reference.
class MethodTest : public ::testing::TestWithParam<std::string> {};

TEST_P(MethodTest, IsValidAndNamesItsSource) {
  const std::string path = JoinPath(::testing::TempDir(), GetParam() + "_spec.textproto");
  ASSERT_TRUE(WriteFileAtomically(path, "name: '" + GetParam() + "_spec' task: 'fashion_mnist_6_4' method: '" +
                                            GetParam() + "' split: 0 seed: 0 metric { auroc {} }")
                  .ok());
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, LoadExperiment(path, SpecFoldersBelow(Root())));
  const MethodSpec& method = experiment.methods[0].spec;
  EXPECT_EQ(method.name(), GetParam());
  EXPECT_FALSE(method.title().empty());
  EXPECT_FALSE(method.reference().empty());
  const absl::StatusOr<std::vector<Trial>> trials = Expand(experiment);
  if (method.model().has_features()) {
    EXPECT_THAT(trials.status().message(), ::testing::HasSubstr("is for feature vectors"));
    return;
  }
  ASSERT_TRUE(trials.ok()) << trials.status();
  // The key that is computed from shared parts is the key of the action as a whole.
  EXPECT_EQ(TrialId((*trials)[0]), MessageDigest(MakeAction((*trials)[0], ActionKind::kEvaluate)));
}

INSTANTIATE_TEST_SUITE_P(Methods, MethodTest, ::testing::ValuesIn(NamesIn("experiments/methods")),
                         [](const auto& info) { return info.param; });

class PresetTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PresetTest, FitsAMethod) {
  const std::string path = JoinPath(::testing::TempDir(), ParameterName(GetParam()) + "_preset.textproto");
  // METHOD+PRESET is a form of the preset for that method.
  const size_t plus = GetParam().find('+');
  const std::string preset = GetParam().substr(plus + 1);
  const std::string method = plus != std::string::npos ? GetParam().substr(0, plus)
                             : preset == "faithful"    ? "thresholded_softmax"
                                                       : "softmax";
  ASSERT_TRUE(WriteFileAtomically(path, "name: 'preset' task: 'cifar10' method: '" + method + "+" + preset +
                                            "' split: 0 seed: 0 metric { auroc {} }")
                  .ok());
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, LoadExperiment(path, SpecFoldersBelow(Root())));
  const absl::StatusOr<std::vector<Trial>> trials = Expand(experiment);
  if (preset == "features") {  // the task has images
    EXPECT_THAT(trials.status().message(), ::testing::HasSubstr("is for feature vectors"));
    return;
  }
  ASSERT_TRUE(trials.ok()) << trials.status();
  EXPECT_EQ((*trials)[0].method().name(), method + "+" + preset);
}

INSTANTIATE_TEST_SUITE_P(Presets, PresetTest, ::testing::ValuesIn(NamesIn("experiments/presets")),
                         [](const auto& info) { return ParameterName(info.param); });

MethodSpec MethodOf(const std::string& name) {
  const absl::StatusOr<LoadedMethod> method = LoadMethod(name, SpecFoldersBelow(Root()), "");
  EXPECT_TRUE(method.ok()) << method.status();
  return method.ok() ? method->spec : MethodSpec();
}

double SmoothingOf(const std::string& method) {
  return MethodOf(method).loss().term(0).cross_entropy().label_smoothing();
}

double MagnitudeOf(const std::string& method) { return MethodOf(method).augmentation(0).rand_augment().magnitude(); }

// utils/paper_hyperparameters.csv of Vaze et al.: rows "Softmax" and "ARPLoss".
TEST(Presets, LaptopKeepsTheHeadsOfMethods) {
  for (const char* preset : {"laptop", "laptop_colour", "laptop_colour_64"}) {
    EXPECT_TRUE(MethodOf(absl::StrCat("arpl+", preset)).model().head().has_reciprocal_point()) << preset;
    EXPECT_TRUE(MethodOf(absl::StrCat("arpl+", preset)).model().has_osrci_cnn()) << preset;
    EXPECT_TRUE(MethodOf(absl::StrCat("gcpl+", preset)).model().head().has_prototype()) << preset;
    EXPECT_TRUE(MethodOf(absl::StrCat("softmax+", preset)).model().head().linear().bias()) << preset;
  }
}

TEST(Presets, HaveTheTunedValuesOfVaze) {
  for (const char* method : {"ce_plus", "openauc", "softmax"}) {
    EXPECT_EQ(SmoothingOf(std::string(method) + "+vaze600"), 0) << method;
    EXPECT_EQ(SmoothingOf(std::string(method) + "+vaze600_tinyimagenet"), 0.9) << method;
    EXPECT_EQ(SmoothingOf(std::string(method) + "+vaze600_cub"), 0.3) << method;
  }
  EXPECT_EQ(SmoothingOf("arpl_plus+vaze600_arpl"), 0);
  EXPECT_EQ(SmoothingOf("arpl_plus+vaze600_arpl_tinyimagenet"), 0.9);
  EXPECT_EQ(SmoothingOf("arpl_plus+vaze600_arpl_cub"), 0.2);
  EXPECT_EQ(MagnitudeOf("ce_plus+vaze600"), 6);
  EXPECT_EQ(MagnitudeOf("arpl_plus+vaze600"), 6);  // CIFAR+N
  EXPECT_EQ(MagnitudeOf("arpl_plus+vaze600_arpl"), 15);
  EXPECT_EQ(MagnitudeOf("arpl_plus+vaze600_arpl_tinyimagenet"), 9);
  EXPECT_EQ(MagnitudeOf("arpl_plus+vaze600_arpl_cub"), 30);
  EXPECT_EQ(MethodOf("ce_plus+vaze600_tinyimagenet").training().optimizer().learning_rate(), 0.01);
  EXPECT_EQ(MethodOf("arpl_plus+vaze600_arpl_tinyimagenet").training().optimizer().learning_rate(), 0.001);
  // A method without a cross entropy gets none, and one without a linear head none either.
  EXPECT_EQ(MethodOf("edl+vaze600_tinyimagenet").loss().term_size(), 1);
  EXPECT_TRUE(MethodOf("edl+vaze600_tinyimagenet").loss().term(0).has_evidential());
  EXPECT_EQ(MethodOf("openauc+vaze600_cub").model().head().linear().initialisation(), LinearHeadSpec::STANDARD_NORMAL);
  EXPECT_TRUE(MethodOf("openauc+vaze600_cub").model().head().linear().bias());
  EXPECT_TRUE(MethodOf("arpl_plus+vaze600_arpl_cub").model().head().has_reciprocal_point());
}

// train.py and dataloader.py of the unified benchmark for --benchmark imagenet, and its Table 5.
TEST(Presets, HaveTheUnifiedBenchmarksImageNetValues) {
  for (const char* name : {"mcp", "edl", "crl", "outlier_exposure", "odin_unified_benchmark", "augmix", "mc_dropout"}) {
    const MethodSpec method = MethodOf(std::string(name) + "+unified_imagenet");
    EXPECT_EQ(method.training().epochs(), 90) << name;
    EXPECT_EQ(method.training().batch_size(), 256) << name;
    EXPECT_EQ(method.training().optimizer().weight_decay(), 1e-4) << name;
    EXPECT_FALSE(method.training().optimizer().sgd().nesterov()) << name;
    EXPECT_EQ(method.training().schedule().step().milestone(0), 30) << name;
    EXPECT_EQ(method.training().schedule().step().milestone(1), 60) << name;
    EXPECT_TRUE(method.augmentation(0).has_random_resized_crop()) << name;
    EXPECT_EQ(method.model().resnet_imagenet().variant(), ResnetImagenetSpec::RESNET152) << name;
    EXPECT_EQ(method.loss().term_size(), MethodOf(name).loss().term_size()) << name;
  }
  const MethodSpec energy = MethodOf("energy+unified_imagenet");
  EXPECT_EQ(energy.loss().term(1).energy_margin().known_margin(), -15);
  EXPECT_EQ(energy.loss().term(1).energy_margin().open_margin(), -7);
  EXPECT_EQ(energy.pretraining().training().epochs(), 90);
  EXPECT_EQ(energy.training().epochs(), 10);
  EXPECT_EQ(energy.training().schedule().cosine_restarts().stepping(), CosineRestartsSpec::BEFORE_ITERATION);
  EXPECT_EQ(energy.open_set().external_images().augmentation_size(), 2);
  const InputPerturbationSpec odin =
      MethodOf("odin_unified_benchmark+unified_imagenet").inference().input_perturbation();
  EXPECT_EQ(odin.temperature(), 10);
  EXPECT_EQ(odin.epsilon(), 0);
  EXPECT_EQ(MethodOf("react_unified_benchmark").score().react().clip(), 7);
  EXPECT_EQ(MethodOf("react_unified_benchmark+unified_imagenet").score().react().clip(), 2);
  EXPECT_EQ(MethodOf("augmix+unified_imagenet").views().augmentation(0).aug_mix().severity(), 1);
  EXPECT_EQ(MethodOf("augmix_no_jsd+unified_imagenet").augmentation(2).aug_mix().severity(), 1);
  EXPECT_EQ(MethodOf("mc_dropout+unified_imagenet").model().resnet_imagenet().block_dropout(), 0.2);
  EXPECT_EQ(MethodOf("openmax_unified_benchmark+unified_imagenet").score().openmax().rank_weight(), 1);
  EXPECT_FALSE(MethodOf("openmax+unified_imagenet").score().openmax().has_rank_weight());
}

// The settings of methods for which sources differ.
TEST(Methods, NameTheirReadings) {
  for (const auto& [name, predictions] : {std::pair("odin", InputPerturbationSpec::PERTURBED),
                                          {"odin_unified_benchmark", InputPerturbationSpec::ORIGINAL}}) {
    const InputPerturbationSpec perturbation = MethodOf(name).inference().input_perturbation();
    EXPECT_EQ(perturbation.direction(), InputPerturbationSpec::GREATER_EQUAL) << name;
    EXPECT_EQ(perturbation.predictions(), predictions) << name;
  }
  // Each method that perturbs its input states whether the class is the original image's, and the direction.
  for (const std::string& name : NamesIn("experiments/methods")) {
    const MethodSpec method = MethodOf(name);
    if (!method.inference().has_input_perturbation()) continue;
    EXPECT_TRUE(method.inference().input_perturbation().has_predictions()) << name;
    EXPECT_TRUE(method.inference().input_perturbation().has_direction()) << name;
  }
  for (const char* name : {"outlier_exposure", "outlier_exposure_unified_benchmark", "energy"}) {
    EXPECT_EQ(MethodOf(name).open_set().external_images().share_of(), ExternalImagesSpec::FULL_BATCH) << name;
  }
  const auto cropped = MethodOf("outlier_exposure_unified_benchmark").open_set().external_images().augmentation();
  EXPECT_EQ(cropped.Get(0).random_crop().window(), RandomCropSpec::INPUT_SIZE);
  EXPECT_TRUE(MethodOf("openmax_unified_benchmark").inference().has_plain());
  const MethodSpec openmax = MethodOf("openmax_unified_benchmark+faithful");
  EXPECT_EQ(openmax.inference().train_mode_pass().batch_size(), 128);
  EXPECT_FALSE(openmax.model().head().linear().normalise_logits());
  const MethodSpec paper = MethodOf("openauc_paper");
  EXPECT_EQ(paper.open_set().feature_mixup().mixed(), FeatureMixupSpec::WHOLE_BATCH);
  const OpenAucSpec& term = paper.loss().term(1).open_auc();
  EXPECT_EQ(term.pairs(), OpenAucSpec::ALL);
  EXPECT_EQ(term.mean(), OpenAucSpec::ALL_PAIRS);
  EXPECT_EQ(term.unknown_score(), OpenAucSpec::MIN_MISCLASSIFICATION);
  EXPECT_TRUE(paper.score().has_min_misclassification());
}

}  // namespace
}  // namespace openset
