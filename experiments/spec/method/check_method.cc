#include "experiments/spec/method/check_method.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/proto/traits.h"
#include "data/augment/augment.pb.h"
#include "eval/scores/output_kind.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/open_set.pb.h"
#include "losses/loss.pb.h"
#include "models/model.pb.h"

namespace openset {
namespace {

// Outputs that were computed elsewhere, and fitted heads, go with no training and no pass through a network.
void CheckArrays(const MethodSpec& method, std::vector<FieldProblem>* problems) {
  const std::string what = method.model().has_outputs() ? "outputs that were computed elsewhere" : "a fitted head";
  for (const auto& [path, present] : {std::pair{"loss", method.has_loss()},
                                      {"training", method.has_training()},
                                      {"open_set", method.has_open_set()},
                                      {"views", method.has_views()},
                                      {"pretraining", method.has_pretraining()},
                                      {"model.head", method.model().has_head()},
                                      {"model.weights", method.model().has_weights()}}) {
    if (present) problems->push_back({path, absl::StrCat("does not go with ", what)});
  }
  if (!method.inference().has_plain()) problems->push_back({"inference", absl::StrCat("must be plain for ", what)});
}

// A training by another program, which writes the outputs, or the weights of the method's network.
void CheckCommand(const MethodSpec& method, std::vector<FieldProblem>* problems) {
  const bool is_network = method.model().has_head();
  if (!is_network && (!method.model().has_outputs() || method.model().outputs().has_file())) {
    problems->push_back({"model",
                         "must be outputs { } for training.command, which writes them, or a network with a head, whose "
                         "weights it writes"});
  }
  for (const auto& [path, present] : {std::pair{"pretraining", method.has_pretraining()},
                                      {"model.weights", method.model().has_weights()},
                                      {"training.evaluate_every", method.training().has_evaluate_every()}}) {
    if (present) problems->push_back({path, "does not go with training.command"});
  }
  if (!is_network && !method.inference().has_plain())
    problems->push_back({"inference", "must be plain for training.command"});
  const CommandSpec& command = method.training().command();
  if (command.source_size() > 0 && !command.has_source_sha256()) {
    problems->push_back({"training.command.source", "can't be set by an axis"});
  }
}

// The fields that a method needs for its training, or must not have without one.
void CheckTraining(const MethodSpec& method, std::vector<FieldProblem>* problems) {
  if (method.pretraining().training().has_command()) {
    problems->push_back({"pretraining.training.command", "only the training of the method can be a command"});
  }
  if (method.training().has_command()) return CheckCommand(method, problems);
  if (method.model().has_outputs() && !method.model().outputs().has_file()) {
    problems->push_back({"model.outputs.file", "must be set, unless training.command writes the outputs"});
  }
  const bool has_model = method.model().has_weights() || method.model().has_torch_script();
  if (UsesArraysOnly(method.model())) return CheckArrays(method, problems);
  for (const auto& [path, present] : {std::pair{"loss", method.has_loss()}, {"training", method.has_training()}}) {
    if (present) continue;
    if (!has_model) {
      problems->push_back({path, "must be set, unless model.weights or model.torch_script provides a trained model"});
    } else if (method.has_loss() || method.has_training()) {
      problems->push_back({path, "must be set: loss and training belong together"});
    }
  }
  if (method.has_training() || !has_model) return;
  if (method.augmentation_size() > 0) problems->push_back({"augmentation", "is for training, but the method has none"});
  if (method.has_open_set()) problems->push_back({"open_set", "is for training, but the method has none"});
  if (method.has_views()) problems->push_back({"views", "is for training, but the method has none"});
  if (method.has_pretraining())
    problems->push_back({"pretraining", "comes before a training, but the method has none"});
  if (method.model().weights().head() == WeightsSpec::SKIP) {
    problems->push_back({"model.weights.head", "SKIP leaves an untrained head, but the method has no training"});
  }
  if (const std::string why = TraitsOf(method.inference()).needs_training(); !why.empty()) {
    problems->push_back({"inference", absl::StrCat(why, ", but the method has no training")});
  }
}

void CheckModel(const MethodSpec& method, std::vector<FieldProblem>* problems) {
  const ModelSpec& model = method.model();
  const bool is_script = model.has_torch_script();
  if (UsesArraysOnly(model)) return;
  const bool known_weights = model.weights().has_sha256() || model.weights().split_sha256_size() > 0;
  const bool unknown_file = is_script ? !model.torch_script().has_sha256() : model.has_weights() && !known_weights;
  if (unknown_file) {
    problems->push_back(
        {is_script ? "model.torch_script.sha256" : "model.weights.sha256", "must be set if an axis sets the file"});
  }
  const VisionTransformerSpec& transformer = model.vision_transformer();
  if (model.has_vision_transformer() && transformer.width() % transformer.heads() != 0) {
    problems->push_back({"model.vision_transformer.width", "must be a multiple of the heads"});
  }
  if (model.has_swin_transformer() && model.swin_transformer().width() % 3 != 0) {
    problems->push_back({"model.swin_transformer.width", "must be a multiple of 3, the heads of the first stage"});
  }
  if (!is_script) {
    if (!model.has_head()) problems->push_back({"model.head", "must be set"});
    if (model.head().has_random_temperature() && model.head().extra_outputs() == 0) {
      problems->push_back({"model.head.extra_outputs", "must be 1 for random_temperature, to hold its variance"});
    }
    return;
  }
  if (model.has_head()) problems->push_back({"model.head", "a script has its own head"});
  if (model.has_weights()) problems->push_back({"model.weights", "a script has its own weights"});
  if (method.has_training() && !model.torch_script().has_head()) {
    problems->push_back({"training", "to train a script, name its last linear module: set model.torch_script.head"});
  }
  if (TraitsOf(method.inference()).dropout()) {
    problems->push_back({"inference", "dropout inside a script can't be switched on"});
  }
}

// Adds problems if the score needs more than the logits of a script.
void CheckScriptScore(const TorchScriptSpec& script, const Traits& needs, const std::string& path,
                      std::vector<FieldProblem>* problems) {
  if (script.has_head()) return;
  if (needs.head()) {
    problems->push_back({path,
                         "needs features and the last linear module's weights: name that module "
                         "(model.torch_script.head; --head)"});
  } else if (needs.features() && !script.features()) {
    problems->push_back({path,
                         "needs features: name the last linear module (model.torch_script.head; --head), or let the "
                         "script return (features, logits) (model.torch_script.features; --features)"});
  }
}

// The same for a score of outputs that were computed elsewhere.
void CheckOutputsScore(const OutputsSpec& outputs, const Traits& needs, const std::string& path,
                       std::vector<FieldProblem>* problems) {
  if (needs.fit() && !outputs.has_fit_file()) {
    problems->push_back({path, "is fitted to training samples: give their outputs (model.outputs.fit_file; --fit)"});
  } else if ((needs.features() || needs.head()) && outputs.has_features() && !outputs.features()) {
    problems->push_back({path, "needs an array 'features' in the file of outputs"});
  } else if (needs.head() && outputs.has_head() && !outputs.head()) {
    problems->push_back({path, "needs arrays 'head_weight' and 'head_bias' in the file of outputs"});
  }
}

bool IsPowerOfTwo(int size) { return size >= 8 && (size & (size - 1)) == 0; }

// Checks a training of the method: `training` is the MethodSpec or its PretrainingSpec, whose paths begin with
// `prefix`.
template <typename Training>
void CheckOneTraining(const MethodSpec& method, const Training& training, int views, const std::string& prefix,
                      std::vector<FieldProblem>* problems) {
  const Traits open_set = TraitsOf(training.open_set());
  const auto add = [&](const std::string& path, const std::string& message) {
    problems->push_back({prefix + path, message});
  };
  bool open_set_used = false;
  bool plain_term = false;
  bool first_term = training.loss().term_size() == 0;  // whether a term counts from the first epoch on
  bool first_plain_term = false;                       // whether one does that needs no open set
  for (int i = 0; i < training.loss().term_size(); ++i) {
    const std::string path = absl::StrCat("loss.term[", i, "]");
    const Traits needs = TraitsOf(training.loss().term(i));
    open_set_used = open_set_used || needs.open_set();
    plain_term = plain_term || !needs.open_set();
    const bool from_first = training.loss().term(i).from_epoch() == 0;
    first_term = first_term || from_first;
    first_plain_term = first_plain_term || (from_first && !needs.open_set());
    if (needs.open_set() && !training.has_open_set()) {
      add(path, "needs samples that stand for unknown classes: set open_set");
    }
    if (needs.slots() && training.has_open_set() && !open_set.slots()) {
      add(path, "pairs by slot, which only feature_mixup provides: set open_auc.pairs to ALL");
    }
    if (needs.mixtures() && training.has_open_set() && !open_set.mixtures()) {
      add(path, "needs mixtures of images: set open_set to mixed_images, or open_set.external_images.mix");
    }
    if (!needs.mixtures() && open_set.replaces_batch()) {
      add(path, training.open_set().has_mixed_images()
                    ? "needs the batch itself: set open_set.mixed_images.beside_batch"
                    : "needs the batch itself, which pix_mix replaces with mixtures: use mixed_cross_entropy alone");
    }
    const HeadSpec& head = method.model().head();
    if (needs.points() && (method.model().has_torch_script() || method.model().has_head()) &&
        !TraitsOf(head).points()) {
      // The problem is reported for the head, because a preset may have replaced it.
      problems->push_back(
          {"model.head", absl::StrCat(prefix, path, " needs a point per class: prototype or reciprocal_point")});
    }
    if (training.loss().term(i).has_random_temperature() && !head.has_random_temperature()) {
      add(path, "needs the logits of model.head.random_temperature");
    }
    if (needs.extra_views() != 0 && needs.extra_views() != views) {
      add(path, absl::StrCat("needs ", needs.extra_views(), " views of each image, not ", views, ": set views.count"));
    }
    if (needs.extra_output() && method.model().head().extra_outputs() == 0) {
      add(path, "needs an output for the unknown class: set model.head.extra_outputs to 1");
    }
  }
  if (training.training().optimizer().has_sam() &&
      (training.open_set().has_confusing_images() || training.open_set().has_virtual_outliers())) {
    add("training.optimizer.sam", "computes each step twice, and open_set learns from each: take another source");
  }
  if (training.training().has_swa() && method.model().has_torch_script()) {
    add("training.swa", "can't measure the batch norms inside a script: leave it out");
  }
  if (!first_term) add("loss.term", "no term counts from the first epoch on: at least one needs from_epoch 0");
  if (!training.has_open_set()) return;
  const bool fits_features = training.open_set().has_feature_mixup() || training.open_set().has_virtual_outliers() ||
                             (training.open_set().has_external_images() && !open_set.mixtures());
  if (method.model().has_features() && !fits_features) {
    add("open_set",
        "makes images, and the samples are feature vectors: feature_mixup, virtual_outliers and "
        "external_images work on them");
  }
  if (!open_set_used) add("open_set", "no loss term uses it");
  if (training.open_set().plain_passes() > 0 && !plain_term) {
    add("open_set.plain_passes", "all terms need the open set, so nothing is left for a pass without it");
  } else if (training.open_set().plain_passes() > 0 && first_term && !first_plain_term) {
    add("open_set.plain_passes",
        "the first epoch's passes without the open set have no term: one that needs no open set needs from_epoch 0");
  }
  if (TraitsOf(method.model()).stages() < open_set.stages()) {
    add("open_set.stage_mixup", "needs a network that shows the feature maps of two stages or more");
  }
  if (training.open_set().external_images().mix_beside_batch() && !training.open_set().external_images().has_mix()) {
    add("open_set.external_images.mix_beside_batch", "is for mixtures: set open_set.external_images.mix");
  }
  if (training.open_set().external_images().has_mix() && training.open_set().external_images().has_pix_mix()) {
    add("open_set.external_images.pix_mix", "excludes mix");
  }
  if (open_set.power_of_two_size() && !IsPowerOfTwo(method.input().size())) {
    add("open_set.confusing_images",
        absl::StrCat("makes images whose size is a power of two, at least 8; input.size is ", method.input().size()));
  }
}

using Augmentations = google::protobuf::RepeatedPtrField<AugmentationSpec>;

// Calls use(path, augmentations) for all lists of augmentations.
template <typename Use>
void ForEachAugmentations(const MethodSpec& method, const Use& use) {
  use("augmentation", method.augmentation());
  use("views.augmentation", method.views().augmentation());
  use("pretraining.augmentation", method.pretraining().augmentation());
  use("open_set.external_images.augmentation", method.open_set().external_images().augmentation());
  use("pretraining.open_set.external_images.augmentation",
      method.pretraining().open_set().external_images().augmentation());
}

// Checks the images against the requirements of model and augmentations.
void CheckInput(const MethodSpec& method, std::vector<FieldProblem>* problems) {
  const InputSpec& input = method.input();
  if (method.model().has_features() && method.has_views()) {
    problems->push_back({"views", "are augmented images, and the samples are feature vectors"});
  }
  if (const int smallest = TraitsOf(method.model()).smallest_image(); input.size() < smallest) {
    problems->push_back(
        {"input.size", absl::StrCat("must be at least ", smallest, " for this model (is ", input.size(), ")")});
  }
  if (input.channels() != 2) return;
  ForEachAugmentations(method, [&](const char* path, const Augmentations& augmentations) {
    for (int i = 0; i < augmentations.size(); ++i) {
      const char* name = augmentations[i].has_rand_augment() ? "rand_augment"
                         : augmentations[i].has_aug_mix()    ? "aug_mix"
                                                             : nullptr;
      if (name == nullptr) continue;
      problems->push_back({"input.channels", absl::StrCat("must be 1 or 3 for ", path, "[", i, "].", name,
                                                          ", which works on colours (is 2)")});
    }
  });
}

bool UsesViews(const LossSpec& loss) {
  for (const LossTermSpec& term : loss.term()) {
    if (TraitsOf(term).extra_views() > 0) return true;
  }
  return false;
}

// Checks a score on the outputs of `inference`.
void CheckScore(const MethodSpec& method, const ScoreSpec& spec, const Traits& inference, const std::string& path,
                std::vector<FieldProblem>* problems) {
  const Traits score = TraitsOf(spec);
  if ((score.features() || score.head()) && inference.has_no_features()) {
    problems->push_back({path, absl::StrCat("needs features, ", inference.no_features())});
  } else if (method.model().has_torch_script()) {
    CheckScriptScore(method.model().torch_script(), score, path, problems);
  } else if (method.training().has_command() && method.model().has_outputs()) {
    // What it writes is known when it ends.
  } else if (method.model().has_outputs()) {
    CheckOutputsScore(method.model().outputs(), score, path, problems);
  } else if (IsFittedHead(method.model())) {
    // Its outputs have features and a linear head.
  } else if (score.head() && !method.model().head().has_linear()) {
    problems->push_back({path, "needs the weights of a linear head"});
  } else if (score.head() && method.model().head().linear().normalise_logits()) {
    problems->push_back({path, "needs logits that are not normalised: unset model.head.linear.normalise_logits"});
  }
  if (score.logit_level() && inference.log_probabilities()) {
    problems->push_back({path,
                         "reads the level of the logits, and the logarithm of mean probabilities has none: set average "
                         "of inference.mc_dropout or inference.ensemble to LOGITS"});
  }
  if (score.perturbed() && !inference.perturbed()) {
    problems->push_back({path, "needs features of images with some pixels changed: set inference.pixel_perturbation"});
  }
  // A file of outputs may have it.
  if (score.member_uncertainty() && !inference.member_uncertainty() && !method.model().has_outputs()) {
    problems->push_back({path,
                         "needs the disagreement of several passes: set member_uncertainty of inference.mc_dropout or "
                         "inference.ensemble"});
  }
  if (score.stage_means() && !inference.stage_means()) {
    problems->push_back({path, "needs means of the stages' maps: set inference.stage_values with value: MEAN"});
  }
  if (score.stage_states() && !inference.stage_states()) {
    problems->push_back({path, "needs states of the stages' maps: set inference.stage_values with value: STATE"});
  }
  if (score.stage_grams() && !inference.stage_grams()) {
    problems->push_back({path, "needs Gram matrices of the stages' maps: set inference.stage_values with value: GRAM"});
  }
  if (score.extra_output() && method.model().head().extra_outputs() == 0 && !method.model().has_outputs()) {
    problems->push_back({path, "needs an output for the unknown class: set model.head.extra_outputs to 1"});
  }
  if (method.model().head().extra_outputs() > 0 && TakesOutputsForClasses(spec)) {
    problems->push_back({path,
                         "takes each output for a class, and the last one (model.head.extra_outputs) is for none: "
                         "extra_output reads it, and scores of features alone do without"});
  }
}

void CheckStages(const MethodSpec& method, std::vector<FieldProblem>* problems) {
  const int needed = TraitsOf(method.inference()).stages();
  const int stages = TraitsOf(method.model()).stages();
  const int settings = method.score().nac_stages().stage_size();
  const int weights = method.score().mahalanobis_ensemble().weight_size();
  if (stages >= needed && settings > stages) {
    problems->push_back(
        {"score.nac_stages.stage", absl::StrCat("has settings of ", settings, " stages; the network has ", stages)});
  }
  if (stages >= needed && weights > 0 && weights != stages) {
    problems->push_back({"score.mahalanobis_ensemble.weight",
                         absl::StrCat("has ", weights, " weights for the network's ", stages, " stages")});
  }
  if (stages >= needed) return;
  problems->push_back(
      {"inference", absl::StrCat("needs the feature maps of ", needed, needed == 1 ? " stage" : " stages",
                                 ", and the model's network shows ", stages == 0 ? "none" : "one")});
}

// Checks the evaluations during the training.
void CheckEvaluation(const MethodSpec& method, std::vector<FieldProblem>* problems) {
  if (method.pretraining().training().has_evaluate_every()) {
    problems->push_back({"pretraining.training.evaluate_every",
                         "records hold the curve of the last training only: set training.evaluate_every"});
  }
  const EvaluateEverySpec& spec = method.training().evaluate_every();
  if (spec.has_score()) {
    CheckScore(method, spec.score(), /*inference=*/{}, "training.evaluate_every.score", problems);
  } else if (method.training().has_evaluate_every() && TraitsOf(method.inference()).members() > 1 &&
             TraitsOf(method.score()).member_uncertainty()) {
    problems->push_back({"training.evaluate_every.score",
                         "must be set: the method's score needs several members, and a curve measures one"});
  }
}

// Checks that crops have sizes to draw from, and that all images end with the same size.
void CheckAugmentation(const std::string& path, const Augmentations& augmentation,
                       std::vector<FieldProblem>* problems) {
  int any_size = -1;  // the last one that leaves images of different sizes
  for (int i = 0; i < augmentation.size(); ++i) {
    const AugmentationSpec& spec = augmentation[i];
    if (spec.resize().shorter_side() > 0) {
      any_size = i;
    } else if (spec.has_resize() || spec.has_center_crop() || spec.has_random_resized_crop() ||
               spec.random_crop().window() == RandomCropSpec::INPUT_SIZE) {
      any_size = -1;
    }
    const RandomResizedCropSpec& crop = spec.random_resized_crop();
    const std::string crop_path = absl::StrCat(path, "[", i, "].random_resized_crop.");
    if (crop.min_area() > crop.max_area()) {
      problems->push_back({crop_path + "min_area", absl::StrCat("is above max_area (", crop.max_area(), ")")});
    }
    if (crop.min_ratio() > crop.max_ratio()) {
      problems->push_back({crop_path + "min_ratio", absl::StrCat("is above max_ratio (", crop.max_ratio(), ")")});
    }
  }
  if (any_size < 0) return;
  problems->push_back({absl::StrCat(path, "[", any_size, "].resize.shorter_side"),
                       "leaves images of different sizes; put center_crop, random_resized_crop or resize after it"});
}

}  // namespace

std::vector<FieldProblem> FindMethodProblems(const MethodSpec& method) {
  std::vector<FieldProblem> problems;
  CheckModel(method, &problems);
  CheckTraining(method, &problems);
  CheckOneTraining(method, method, method.has_views() ? method.views().count() : 0, "", &problems);
  if (method.has_pretraining()) CheckOneTraining(method, method.pretraining(), 0, "pretraining.", &problems);
  if (method.has_views() && !UsesViews(method.loss())) problems.push_back({"views", "no loss term uses them"});

  CheckScore(method, method.score(), TraitsOf(method.inference()), "score", &problems);
  CheckStages(method, &problems);
  CheckEvaluation(method, &problems);

  ForEachAugmentations(method, [&](const char* path, const Augmentations& augmentations) {
    CheckAugmentation(path, augmentations, &problems);
  });

  CheckInput(method, &problems);
  const InputSpec& input = method.input();
  if (input.test_shorter_side() > 0 && input.test_shorter_side() < input.size()) {
    problems.push_back(
        {"input.test_shorter_side", absl::StrCat("must be 0 or at least the size (", input.size(), ")")});
  }
  const auto check_count = [&](const char* path, int count) {
    if (count > 1 && count != input.channels()) {
      problems.push_back({path, absl::StrCat("has ", count, " values for ", input.channels(), " channels")});
    }
  };
  check_count("input.mean", input.mean_size());
  check_count("input.std", input.std_size());
  return problems;
}

}  // namespace openset
