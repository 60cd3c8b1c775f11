#include "experiments/spec/method/check_method.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "models/model.pb.h"

namespace openset {
namespace {

MethodSpec Parse(const std::string& text) { return Parsed<MethodSpec>(text); }

// The problems of a method. `rest` has its score and inference; a linear head and a training are added unless the model
// is imported.
std::vector<std::string> Problems(const std::string& text,
                                  const std::string& rest = "score { max_logit {} } inference { plain {} }") {
  MethodSpec method = Parse(text + rest);
  if (!method.model().has_weights() && !method.model().has_torch_script()) {
    if (!method.model().has_head()) method.mutable_model()->mutable_head()->mutable_linear();
    method.mutable_training();
  }
  std::vector<std::string> lines;
  for (const FieldProblem& problem : FindMethodProblems(method)) {
    lines.push_back(absl::StrCat(problem.path, ": ", problem.message));
  }
  return lines;
}

TEST(CheckMethod, AcceptsPartsThatFit) {
  EXPECT_THAT(Problems("input { channels: 3 } loss { term { cross_entropy {} } }"), IsEmpty());
  EXPECT_THAT(Problems("input { channels: 3 } open_set { feature_mixup {} } loss { term { open_auc {} } }"), IsEmpty());
}

TEST(CheckMethod, SomeTermCountsFromTheFirstEpochOn) {
  EXPECT_THAT(Problems("input { channels: 3 } loss { term { cross_entropy {} from_epoch: 1 } }"),
              ElementsAre(HasSubstr("loss.term: no term counts from the first epoch on")));
}

TEST(CheckMethod, APassInTrainingModeKeepsLogitsOnly) {
  const std::string text = "input { channels: 3 } loss { term { cross_entropy {} } }";
  EXPECT_THAT(Problems(text, "score { openmax {} } inference { train_mode_pass {} }"), IsEmpty());
  EXPECT_THAT(Problems(text, "score { knn {} } inference { train_mode_pass {} }"),
              ElementsAre(HasSubstr("score: needs features, and a pass in training mode keeps logits only")));
}

// Windows of the input's size make images of one size.
TEST(CheckMethod, ExternalImagesMayHaveTheirOwnAugmentations) {
  const std::string text =
      "input { channels: 3 } loss { term { cross_entropy {} } term { outlier_exposure {} } } open_set { "
      "external_images { ";
  EXPECT_THAT(Problems(text + "augmentation { random_crop { window: INPUT_SIZE } } } }"), IsEmpty());
  EXPECT_THAT(Problems(text + "augmentation { resize { shorter_side: 40 } } } }"),
              ElementsAre(HasSubstr("open_set.external_images.augmentation[0].resize.shorter_side: leaves images of")));
}

TEST(CheckMethod, NamesTheTermThatLacksItsOpenSet) {
  EXPECT_THAT(Problems("input { channels: 3 } loss { term { cross_entropy {} } term { open_auc {} } }"),
              ElementsAre(HasSubstr("loss.term[1]: needs samples that stand for unknown classes")));
}

TEST(CheckMethod, TermsOverPointsNeedAHeadThatHasThem) {
  const std::string rest = "input { channels: 3 } loss { term { gcpl {} } }";
  EXPECT_THAT(Problems("model { head { prototype {} } }" + rest), IsEmpty());
  EXPECT_THAT(
      Problems("model { head { linear {} } }" + rest),
      ElementsAre(HasSubstr("model.head: loss.term[0] needs a point per class: prototype or reciprocal_point")));
}

TEST(CheckMethod, PairsBySlotNeedASourceThatMakesThem) {
  const std::string rest = "input { channels: 3 } open_set { noise_images {} } loss { term { open_auc { ";
  EXPECT_THAT(Problems(rest + "pairs: ALL } } }"), IsEmpty());
  EXPECT_THAT(Problems(rest + "pairs: SAME_SLOT } } }"), ElementsAre(HasSubstr("loss.term[0]: pairs by slot")));
}

TEST(CheckMethod, HeadsOfATransformerShareItsWidth) {
  const std::string rest = " head { linear {} } } input { size: 224 channels: 3 } loss { term { cross_entropy {} } }";
  EXPECT_THAT(Problems("model { vision_transformer { width: 20 heads: 4 }" + rest), IsEmpty());
  EXPECT_THAT(Problems("model { vision_transformer { width: 20 heads: 3 }" + rest),
              ElementsAre(HasSubstr("model.vision_transformer.width: must be a multiple")));
  EXPECT_THAT(Problems("model { swin_transformer { width: 20 }" + rest),
              ElementsAre(HasSubstr("model.swin_transformer.width: must be a multiple of 3")));
}

TEST(CheckMethod, MixturesNeedASourceThatMixes) {
  const std::string rest = "input { channels: 3 } loss { term { mixed_cross_entropy {} } } open_set { ";
  EXPECT_THAT(Problems(rest + "mixed_images { mix {} } }"), IsEmpty());
  EXPECT_THAT(Problems(rest + "external_images { mix {} } }"), IsEmpty());
  EXPECT_THAT(Problems(rest + "external_images {} }"),
              ElementsAre(HasSubstr("loss.term[0]: needs mixtures of images")));
  const std::string both =
      "input { channels: 3 } loss { term { mixed_cross_entropy {} } term { cross_entropy {} } } open_set { "
      "mixed_images { ";
  EXPECT_THAT(Problems(both + "mix {} beside_batch: true } }"), IsEmpty());
  EXPECT_THAT(Problems(both + "mix {} } }"), ElementsAre(HasSubstr("loss.term[1]: needs the batch itself")));

  EXPECT_THAT(Problems(rest + "external_images { pix_mix {} } }"), IsEmpty());
  EXPECT_THAT(Problems(rest + "external_images { pix_mix {} mix {} } }"),
              ElementsAre("open_set.external_images.pix_mix: excludes mix"));
  EXPECT_THAT(Problems("input { channels: 3 } loss { term { mixed_cross_entropy {} } term { cross_entropy {} } } "
                       "open_set { external_images { pix_mix {} } }"),
              ElementsAre(HasSubstr("loss.term[1]: needs the batch itself, which pix_mix replaces with mixtures")));
}

TEST(CheckMethod, MixturesBesideTheBatchAreMixtures) {
  const std::string rest =
      "model { head { linear {} extra_outputs: 1 } } input { channels: 3 } loss { term { cross_entropy {} } "
      "term { mixed_cross_entropy { unknown_is_last_class: true } } } open_set { external_images { mix_beside_batch: "
      "true ";
  const std::string score = "score { extra_output {} } inference { plain {} }";
  EXPECT_THAT(Problems(rest + "mix {} } }", score), IsEmpty());
  EXPECT_THAT(Problems(rest + "pix_mix {} } }", score),
              Contains(HasSubstr("open_set.external_images.mix_beside_batch: is for mixtures")));
}

TEST(CheckMethod, SharpnessAwareStepsAreComputedTwice) {
  const std::string rest =
      "input { channels: 3 size: 32 } training { optimizer { sam {} } } loss { term { cross_entropy {} } ";
  EXPECT_THAT(Problems(rest + "}"), IsEmpty());
  EXPECT_THAT(Problems(rest + "term { outlier_exposure {} } } open_set { noise_images {} }"), IsEmpty());
  for (const char* source : {"virtual_outliers {}", "confusing_images { optimizer { learning_rate: 1 adam {} } }"}) {
    EXPECT_THAT(Problems(absl::StrCat(rest, "term { outlier_exposure {} } } open_set { ", source, " }")),
                ElementsAre(HasSubstr("training.optimizer.sam: computes each step twice")));
  }
}

TEST(CheckMethod, TheScoreOfTheExtraOutputNeedsOne) {
  const std::string rest = "input { channels: 3 } loss { term { cross_entropy {} } } inference { plain {} }";
  EXPECT_THAT(Problems("model { head { linear {} extra_outputs: 1 } }" + rest, "score { extra_output {} }"), IsEmpty());
  EXPECT_THAT(Problems("model { head { linear {} } }" + rest, "score { extra_output {} }"),
              ElementsAre(HasSubstr("score: needs an output for the unknown class")));
  // Scores of the classes would take it for one of them.
  for (const char* of_classes :
       {"max_softmax {}", "energy {}", "vim {}", "combine { score { knn {} } score { gen {} } }"}) {
    EXPECT_THAT(
        Problems("model { head { linear {} extra_outputs: 1 } }" + rest, absl::StrCat("score { ", of_classes, " }")),
        ElementsAre(HasSubstr("score: takes each output for a class, and the last one")));
  }
  EXPECT_THAT(Problems("model { head { linear {} extra_outputs: 1 } }" + rest, "score { knn {} }"), IsEmpty());
}

TEST(CheckMethod, NamesAnUnusedOpenSet) {
  EXPECT_THAT(Problems("input { channels: 3 } open_set { feature_mixup {} } loss { term { cross_entropy {} } }"),
              ElementsAre("open_set: no loss term uses it"));
}

TEST(CheckMethod, AMeanOfPassesIsScoredByItsLogitsOnly) {
  const std::string method = "input { channels: 3 } loss { term { cross_entropy {} } }";
  EXPECT_THAT(Problems(method, "score { entropy {} } inference { ensemble {} }"), IsEmpty());
  EXPECT_THAT(Problems(method, "score { knn {} } inference { ensemble {} }"),
              ElementsAre(HasSubstr("score: needs features")));
  // The mean of probabilities has no level.
  for (const char* inference : {"ensemble", "mc_dropout"}) {
    const std::string energy = absl::StrCat("score { energy {} } inference { ", inference, " {");
    EXPECT_THAT(Problems(method, energy + "} }"), ElementsAre(HasSubstr("score: reads the level of the logits")));
    EXPECT_THAT(Problems(method, energy + "average: LOGITS } }"), IsEmpty());
  }
}

TEST(CheckMethod, AdascaleNeedsChangedImages) {
  const std::string method = "model { head { linear {} } } input { channels: 3 } loss { term { cross_entropy {} } } ";
  EXPECT_THAT(Problems(method + "inference { pixel_perturbation {} }", "score { adascale {} }"), IsEmpty());
  EXPECT_THAT(Problems(method + "inference { plain {} }", "score { adascale {} }"),
              ElementsAre(HasSubstr("score: needs features of images with some pixels changed")));
}

constexpr char kExtra[] = "score { extra_output {} } inference { plain {} }";

TEST(CheckMethod, ARandomTemperatureIsOfHeadAndLoss) {
  const std::string rest = " } } input { channels: 3 } loss { term { random_temperature {} } }";
  EXPECT_THAT(Problems("model { head { random_temperature {} extra_outputs: 1" + rest, kExtra), IsEmpty());
  EXPECT_THAT(Problems("model { head { linear {} extra_outputs: 1" + rest, kExtra),
              ElementsAre("loss.term[0]: needs the logits of model.head.random_temperature"));
  EXPECT_THAT(Problems("model { head { random_temperature {}" + rest, kExtra),
              ::testing::Contains(HasSubstr("model.head.extra_outputs: must be 1 for random_temperature")));
}

TEST(CheckMethod, MapsAreMixedBetweenStages) {
  const std::string rest =
      " head { linear { } extra_outputs: 1 } } input { size: 224 channels: 3 } loss { term { placeholder {} } } "
      "open_set { stage_mixup {} }";
  EXPECT_THAT(Problems("model { resnet_cifar {}" + rest, kExtra), IsEmpty());
  EXPECT_THAT(Problems("model { swin_transformer {}" + rest, kExtra),
              ElementsAre(HasSubstr("open_set.stage_mixup: needs a network that shows")));
}

TEST(CheckMethod, RankFeatNeedsStages) {
  const std::string rest = " head { linear {} } } input { channels: 3 } loss { term { cross_entropy {} } } ";
  const std::string two = "inference { rank_feat {} }";
  const std::string score = "score { energy {} }";
  EXPECT_THAT(Problems("model { resnet_cifar {}" + rest + two, score), IsEmpty());
  EXPECT_THAT(Problems("model { swin_transformer {}" + rest + two, score),
              ElementsAre("inference: needs the feature maps of 2 stages, and the model's network shows none"));
  EXPECT_THAT(Problems("model { swin_transformer {}" + rest + "inference { rank_feat { stages: LAST } }", score),
              ElementsAre(HasSubstr("inference: needs the feature maps of 1 stage,")));
}

TEST(CheckMethod, ScoresOfStagesNeedTheirValues) {
  const std::string method =
      "model { resnet_cifar {} head { linear {} } } input { channels: 3 } loss { term { cross_entropy {} } } ";
  const std::string means = "inference { stage_values {} }", states = "inference { stage_values { value: STATE } }";
  EXPECT_THAT(Problems(method + means, "score { mahalanobis_ensemble {} }"), IsEmpty());
  EXPECT_THAT(Problems(method + states, "score { nac_stages {} }"), IsEmpty());
  EXPECT_THAT(Problems(method + states, "score { mahalanobis_ensemble {} }"),
              ElementsAre(HasSubstr("score: needs means of the stages' maps")));
  EXPECT_THAT(Problems(method + "inference { stage_values { value: GRAM } }", "score { gram {} }"), IsEmpty());
  EXPECT_THAT(Problems(method + means, "score { gram {} }"), ElementsAre(HasSubstr("score: needs Gram matrices")));
  EXPECT_THAT(Problems(method + "inference { plain {} }", "score { nac_stages {} }"),
              ElementsAre(HasSubstr("score: needs states of the stages' maps")));
  const std::string stage = "stage {} ";
  EXPECT_THAT(Problems(method + states, "score { nac_stages { " + stage + stage + stage + "} }"), IsEmpty());
  EXPECT_THAT(Problems(method + states, "score { nac_stages { " + stage + stage + stage + stage + "} }"),
              ElementsAre("score.nac_stages.stage: has settings of 4 stages; the network has 3"));
  EXPECT_THAT(Problems(method + means, "score { mahalanobis_ensemble { weight: [1, 2] } }"),
              ElementsAre("score.mahalanobis_ensemble.weight: has 2 weights for the network's 3 stages"));
  const std::string none =
      "model { vision_transformer {} head { linear {} } } input { channels: 3 } loss { term { cross_entropy {} } } ";
  EXPECT_THAT(Problems(none + means, "score { mahalanobis_ensemble {} }"),
              ElementsAre(HasSubstr("inference: needs the feature maps of 1 stage, and")));
}

TEST(CheckMethod, DisagreementIsOfSeveralPasses) {
  const std::string method =
      "input { channels: 3 } loss { term { cross_entropy {} } } score { mutual_information {} } ";
  const std::string problem =
      "score: needs the disagreement of several passes: set member_uncertainty of inference.mc_dropout or "
      "inference.ensemble";
  EXPECT_THAT(Problems(method, "inference { plain {} }"), ElementsAre(problem));
  EXPECT_THAT(Problems(method, "inference { ensemble {} }"), ElementsAre(problem));
  EXPECT_THAT(Problems(method, "inference { ensemble { member_uncertainty: true } }"), IsEmpty());
  EXPECT_THAT(Problems(method, "inference { mc_dropout { member_uncertainty: true } }"), IsEmpty());
  const std::string curve = "training { evaluate_every { epochs: 1 } } ";
  EXPECT_THAT(Problems(method + curve, "inference { mc_dropout { member_uncertainty: true } }"), IsEmpty());
  EXPECT_THAT(
      Problems(method + curve, "inference { ensemble { member_uncertainty: true } }"),
      ElementsAre(HasSubstr("training.evaluate_every.score: must be set: the method's score needs several members")));
  EXPECT_THAT(Problems(method + "training { evaluate_every { epochs: 1 score { variation_ratio {} } } } ",
                       "inference { mc_dropout { member_uncertainty: true } }"),
              ElementsAre(HasSubstr("training.evaluate_every.score: needs the disagreement of several passes")));
}

TEST(CheckMethod, TheScoreOfALearningCurveMustFit) {
  const std::string method = "input { channels: 3 } loss { term { cross_entropy {} } } training { evaluate_every { ";
  EXPECT_THAT(Problems(method + "score { knn {} } } }"), IsEmpty());
  EXPECT_THAT(Problems(method + "score { extra_output {} } } }"),
              ElementsAre(HasSubstr("training.evaluate_every.score: needs an output for the unknown class")));
  EXPECT_THAT(Problems("input { channels: 3 } loss { term { cross_entropy {} } } "
                       "pretraining { loss { term { cross_entropy {} } } training { evaluate_every {} } }"),
              ElementsAre(HasSubstr("pretraining.training.evaluate_every: records hold the curve of the last")));
}

TEST(CheckMethod, AugmentationsEndWithOneSize) {
  const std::string rest = "input { size: 8 } loss { term { cross_entropy {} } } ";
  EXPECT_THAT(Problems(rest + "augmentation { resize { shorter_side: 9 } } augmentation { center_crop {} } "
                              "augmentation { horizontal_flip {} }"),
              IsEmpty());
  EXPECT_THAT(Problems(rest + "augmentation { center_crop {} } augmentation { resize { shorter_side: 9 } }"),
              ElementsAre("augmentation[1].resize.shorter_side: leaves images of different sizes; put center_crop, "
                          "random_resized_crop or resize after it"));
  EXPECT_THAT(Problems(rest + "augmentation { random_resized_crop { min_area: 0.6 max_area: 0.5 min_ratio: 2 } }"),
              ElementsAre("augmentation[0].random_resized_crop.min_area: is above max_area (0.5)",
                          "augmentation[0].random_resized_crop.min_ratio: is above max_ratio (1.33333)"));
}

TEST(CheckMethod, ImagesAreNotPaddedAtInference) {
  const std::string loss = "loss { term { cross_entropy {} } } ";
  EXPECT_THAT(Problems(loss + "input { size: 8 test_shorter_side: 8 }"), IsEmpty());
  EXPECT_THAT(Problems(loss + "input { size: 8 test_shorter_side: 7 }"),
              ElementsAre("input.test_shorter_side: must be 0 or at least the size (8)"));
}

TEST(CheckMethod, CountsNormalisationValues) {
  EXPECT_THAT(Problems("input { channels: 3 mean: 0.5 std: 0.5 } loss { term { cross_entropy {} } }"), IsEmpty());
  EXPECT_THAT(Problems("input { channels: 1 mean: [0.5, 0.5] std: [1, 1, 1] } loss { term { cross_entropy {} } }"),
              ElementsAre("input.mean: has 2 values for 1 channels", "input.std: has 3 values for 1 channels"));
}

TEST(CheckMethod, AModelThatIsNotImportedIsTrained) {
  MethodSpec method = Parse("model { head { linear {} } } score { max_logit {} } inference { plain {} }");
  const std::vector<FieldProblem> problems = FindMethodProblems(method);
  ASSERT_EQ(problems.size(), 2);
  EXPECT_EQ(problems[0].path, "loss");
  EXPECT_EQ(problems[1].path, "training");
  EXPECT_THAT(problems[1].message, HasSubstr("unless model.weights or model.torch_script provides a trained model"));
}

constexpr char kWeights[] = "model { head { linear {} } weights { file: 'f' sha256: 'x' } }";
constexpr char kScript[] = "model { torch_script { file: 'f' sha256: 'x' } }";
constexpr char kScriptWithHead[] = "model { torch_script { file: 'f' sha256: 'x' head: 'fc' } }";

TEST(CheckMethod, AnImportedModelNeedsNoTrainingAndThenNoPartsOfOne) {
  for (const std::string model : {kWeights, kScript, kScriptWithHead}) {
    EXPECT_THAT(Problems(model), IsEmpty());
    EXPECT_THAT(
        Problems(model + " input { channels: 3 } augmentation { horizontal_flip {} } open_set { noise_images {} }"),
        ElementsAre("augmentation: is for training, but the method has none",
                    "open_set: is for training, but the method has none", "open_set: no loss term uses it"));
    EXPECT_THAT(Problems(model + " loss { term { cross_entropy {} } }"),
                ElementsAre("training: must be set: loss and training belong together"));
  }
  EXPECT_THAT(Problems("model { head { linear {} } weights { file: 'f' sha256: 'x' head: SKIP } }"),
              ElementsAre("model.weights.head: SKIP leaves an untrained head, but the method has no training"));
  EXPECT_THAT(Problems(kWeights, "score { entropy {} } inference { ensemble {} }"),
              ElementsAre("inference: needs several trainings, but the method has no training"));
  EXPECT_THAT(
      Problems(kWeights, "score { max_logit {} } inference { train_mode_pass {} }"),
      ElementsAre("inference: passes over the training images in training mode, but the method has no training"));
}

TEST(CheckMethod, ImportedModelsCanBeTrained) {
  const std::string training = " loss { term { cross_entropy {} } } training {}";
  EXPECT_THAT(Problems("model { head { linear {} } weights { file: 'f' sha256: 'x' head: SKIP } }" + training),
              IsEmpty());
  EXPECT_THAT(Problems(kScriptWithHead + training), IsEmpty());
  EXPECT_THAT(Problems(kScript + training),
              ElementsAre(HasSubstr("training: to train a script, name its last linear module")));
}

TEST(CheckMethod, AScriptsWeightsAreNotAveraged) {
  EXPECT_THAT(Problems(kScriptWithHead + std::string(" loss { term { cross_entropy {} } } training { swa {} }")),
              ElementsAre(HasSubstr("training.swa: can't measure the batch norms inside a script")));
}

TEST(CheckMethod, AScriptNeedsNoOtherParts) {
  EXPECT_THAT(Problems("model { torch_script { file: 'f' sha256: 'x' } head { linear {} } "
                       "weights { file: 'f' sha256: 'x' } }"),
              ElementsAre("model.head: a script has its own head", "model.weights: a script has its own weights"));
  EXPECT_THAT(Problems("model { torch_script { file: 'f' } }"),
              ElementsAre("model.torch_script.sha256: must be set if an axis sets the file"));
  EXPECT_THAT(Problems(kScript, "score { entropy {} } inference { mc_dropout {} }"),
              ElementsAre("inference: dropout inside a script can't be switched on"));
}

TEST(CheckMethod, ScoresOfAScript) {
  const std::string features = "model { torch_script { file: 'f' sha256: 'x' features: true } }";
  const auto problems = [](const std::string& model, const std::string& score) {
    return Problems(model, "inference { plain {} } score { " + score + " {} }");
  };
  for (const std::string score : {"max_softmax", "openmax", "knn", "react", "vim"}) {
    EXPECT_THAT(problems(kScriptWithHead, score), IsEmpty());
  }
  EXPECT_THAT(problems(kScript, "openmax"), IsEmpty());
  EXPECT_THAT(problems(kScript, "knn"), ElementsAre(HasSubstr("score: needs features: name the last linear module")));
  EXPECT_THAT(problems(kScript, "react"), ElementsAre(HasSubstr("score: needs features and the last linear")));
  EXPECT_THAT(problems(features, "knn"), IsEmpty());
  EXPECT_THAT(problems(features, "react"), ElementsAre(HasSubstr("score: needs features and the last linear")));
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

TEST(CheckMethod, APassWithoutTheOpenSetNeedsItsOwnTerm) {
  EXPECT_THAT(Problems("input { channels: 3 } open_set { noise_images {} plain_passes: 1 } "
                       "loss { term { outlier_exposure {} } }"),
              ElementsAre(HasSubstr("open_set.plain_passes: all terms need the open set")));
}

// In epoch 0 a pass without the open set would have nothing to minimise.
TEST(CheckMethod, APassWithoutTheOpenSetHasATermFromTheFirstEpochOn) {
  const std::string method =
      "input { channels: 3 } open_set { noise_images {} plain_passes: 1 } loss { term { outlier_exposure {} } "
      "term { cross_entropy {} ";
  EXPECT_THAT(Problems(method + "} }"), IsEmpty());
  EXPECT_THAT(Problems(method + "from_epoch: 5 } }"),
              ElementsAre(HasSubstr("open_set.plain_passes: the first epoch's passes without the open set have no")));
  EXPECT_THAT(Problems("input { channels: 3 } open_set { noise_images {} } "
                       "loss { term { outlier_exposure {} } term { cross_entropy {} from_epoch: 5 } }"),
              IsEmpty());
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
