#include "core/text/synonyms.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace openset {

const std::map<std::string, std::vector<std::string>>& Synonyms() {
  static const auto* synonyms = new std::map<std::string, std::vector<std::string>>{
      // Scores, and the methods that are these scores on a plain network.
      {"msp", {"mcp", "max_softmax"}},
      {"mcp", {"max_softmax"}},
      {"maxsoftmaxprobability", {"mcp", "max_softmax"}},
      {"maximumsoftmaxprobability", {"mcp", "max_softmax"}},
      {"maximumclassprobability", {"mcp", "max_softmax"}},
      {"maxprobability", {"mcp", "max_softmax"}},
      {"maxprob", {"mcp", "max_softmax"}},
      {"softmaxthreshold", {"thresholded_softmax", "max_softmax"}},
      {"baseline", {"mcp", "max_softmax"}},
      {"mls", {"max_logit"}},
      {"maximumlogit", {"max_logit"}},
      {"maximumlogitscore", {"max_logit"}},
      {"ebo", {"energy_score", "energy"}},
      {"freeenergy", {"energy_score", "energy"}},
      {"energybased", {"energy_score", "energy"}},
      {"md", {"mahalanobis"}},
      {"mds", {"mahalanobis"}},
      {"maha", {"mahalanobis"}},
      {"mahalanobisdistance", {"mahalanobis"}},
      {"rmd", {"relative_mahalanobis"}},
      {"rmds", {"relative_mahalanobis"}},
      {"mds++", {"mahalanobis_plus_plus"}},
      {"mahalanobis++", {"mahalanobis_plus_plus"}},
      {"rmds++", {"relative_mahalanobis_plus_plus"}},
      {"relativemahalanobis++", {"relative_mahalanobis_plus_plus"}},
      {"tempscale", {"temperature_scaling", "temperature_scaled_softmax"}},
      {"ts", {"temperature_scaling", "temperature_scaled_softmax"}},
      {"temperaturescaling", {"temperature_scaled_softmax"}},
      {"knndistance", {"knn"}},
      {"nearestneighbour", {"knn"}},
      {"nearestneighbours", {"knn"}},
      {"nearestneighbor", {"knn"}},
      {"nearestneighbors", {"knn"}},
      {"klmatching", {"klm"}},
      {"virtuallogit", {"vim"}},
      {"generalizedentropy", {"gen"}},
      {"weiper", {"weiper_kld"}},
      {"mdsensemble", {"mahalanobis_ensemble"}},
      {"adascale", {"adascale_a"}},
      {"vra+", {"vra_plus"}},
      {"logitscaling", {"lts"}},
      {"webo", {"weighted_energy"}},
      {"weightedebo", {"weighted_energy"}},
      {"gaussianmixture", {"gmm"}},
      {"ddu", {"gmm"}},
      {"maximumconceptmatching", {"mcm"}},
      {"graduncertainty", {"gradient_uncertainty"}},
      {"bald", {"mc_dropout_mutual_information", "mutual_information"}},
      {"dropout", {"mc_dropout"}},
      {"mcd", {"mc_dropout"}},
      {"ensemble", {"deep_ensemble"}},
      {"deepensembles", {"deep_ensemble"}},
      {"evidential", {"edl", "edl_vacuity"}},
      {"vacuity", {"edl_vacuity"}},
      // Methods and losses.
      {"oe", {"outlier_exposure"}},
      {"arpl+cs", {"arpl_cs"}},
      {"arpl+", {"arpl_plus"}},
      {"ce+", {"ce_plus"}},
      {"crossentropyplus", {"ce_plus"}},
      {"ce", {"softmax", "cross_entropy"}},
      {"crossentropy", {"softmax"}},
      {"xent", {"softmax", "cross_entropy"}},
      {"correctnessrankingloss", {"crl", "crl_ranking"}},
      {"crl", {"crl_ranking"}},
      {"jsd", {"jsd_consistency"}},
      {"noise", {"noise_softmax", "noise_images"}},
      {"overlay", {"overlay_softmax", "overlay_images"}},
      {"cac", {"class_anchor"}},
      {"confbranch", {"confidence_branch"}},
      {"centerloss", {"centre_loss"}},
      {"center", {"centre"}},
      {"godin", {"g_odin"}},
      {"ii", {"ii_loss", "intra_inter"}},
      {"background", {"background_class"}},
      {"virtualoutliersynthesis", {"vos"}},
      {"woods", {"scone", "energy_constraint"}},
      // Metrics.
      {"acc", {"accuracy"}},
      {"top1", {"accuracy"}},
      {"closedsetaccuracy", {"accuracy"}},
      {"auc", {"auroc"}},
      {"rocauc", {"auroc"}},
      {"aucroc", {"auroc"}},
      {"aupr", {"aupr_unknown"}},
      {"auprout", {"aupr_unknown"}},
      {"auprc", {"aupr_unknown"}},
      {"averageprecision", {"aupr_unknown"}},
      {"ap", {"aupr_unknown"}},
      {"auprin", {"aupr_known"}},
      {"auin", {"aupr_known"}},
      {"auout", {"aupr_unknown"}},
      {"fpr95", {"fpr_at_95tpr", "fpr_at_0.95tpr", "fpr_at_tpr"}},
      {"fpr95tpr", {"fpr_at_95tpr", "fpr_at_0.95tpr", "fpr_at_tpr"}},
      {"fprattpr95", {"fpr_at_95tpr", "fpr_at_0.95tpr", "fpr_at_tpr"}},
      {"fpr", {"fpr_at_95tpr", "fpr_at_0.95tpr", "fpr_at_tpr"}},
      {"fprat95tpr", {"fpr_at_0.95tpr"}},
      {"fprat0.95tpr", {"fpr_at_95tpr"}},
      {"ccr", {"ccr_at_fpr"}},
      {"ccrfpr", {"ccr_at_fpr"}},
      {"macrof1", {"open_set_f_macro"}},
      {"f1macro", {"open_set_f_macro"}},
      {"f1", {"open_set_f_macro"}},
      {"fscore", {"open_set_f_macro"}},
      {"opensetf", {"open_set_f_macro"}},
      {"opensetfscore", {"open_set_f_macro"}},
      {"microf1", {"open_set_f_micro"}},
      {"f1micro", {"open_set_f_micro"}},
      {"youden", {"youden_macro"}},
      {"osa", {"open_set_accuracy"}},
      {"na", {"nacc"}},
      {"normalizedaccuracy", {"nacc"}},
      {"excessaurc", {"eaurc"}},
      {"riskcoverage", {"aurc"}},
      {"calibrationerror", {"ece"}},
      {"expectedcalibrationerror", {"ece"}},
      {"maximumcalibrationerror", {"mce"}},
      {"adaece", {"adaptive_ece"}},
      {"ace", {"adaptive_ece"}},
      {"negativeloglikelihood", {"nll"}},
      {"logloss", {"nll"}},
      {"brierscore", {"brier"}},
      {"aurocmc", {"auroc_misclassification"}},
      {"failureauroc", {"auroc_misclassification"}},
      // Networks.
      {"vgg", {"vgg32"}},
      {"resnet18", {"resnet_cifar"}},
      {"resnet20", {"resnet_cifar"}},
      {"resnet50", {"resnet_imagenet"}},
      {"resnet152", {"resnet_imagenet"}},
      {"wrn", {"wide_resnet"}},
      {"densenet121", {"densenet"}},
      {"vit", {"vision_transformer"}},
      {"swin", {"swin_transformer"}},
      {"jit", {"torch_script"}},
      // Fields of studies.
      {"trainlimit", {"train_limit_per_class"}},
      {"testlimit", {"test_limit_per_class"}},
      {"limit", {"train_limit_per_class"}},
      {"metrics", {"metric"}},
      {"methods", {"method"}},
      {"seeds", {"seed"}},
      {"splits", {"split"}},
      // Augmentations, and open-set sources.
      {"flip", {"horizontal_flip"}},
      {"hflip", {"horizontal_flip"}},
      {"crop", {"random_crop"}},
      {"mixup", {"feature_mixup"}},
      {"manifoldmixup", {"feature_mixup"}},
      // Data sets and tasks.
      {"fmnist", {"fashion_mnist", "fashion_mnist_6_4"}},
      {"fashionmnist", {"fashion_mnist_6_4"}},
      {"tinyimagenet200", {"tinyimagenet"}},
      {"tin", {"tinyimagenet"}},
      {"cub2002011", {"cub200"}},
      {"cub", {"cub200"}},
      {"textures", {"textures_ood", "dtd"}},
      {"places", {"places365"}},
      {"lsun", {"lsun_fix"}},
      {"inaturalist", {"inaturalist_ood"}},
      {"openimageso", {"openimage_o"}},
  };
  return *synonyms;
}

std::string FoldedName(absl::string_view name) {
  std::string folded;
  for (const char c : name) {
    if (c != '-' && c != '_' && c != '@' && c != ' ') folded.push_back(absl::ascii_tolower(c));
  }
  return folded;
}

std::optional<std::string> ResolveSynonym(absl::string_view name, const std::vector<std::string>& known) {
  const auto is_known = [&known](absl::string_view n) {
    return std::find(known.begin(), known.end(), n) != known.end();
  };
  if (is_known(name)) return std::string(name);
  const std::string folded = FoldedName(name);
  if (folded.empty()) return std::nullopt;
  std::optional<std::string> same;
  for (const std::string& candidate : known) {
    if (FoldedName(candidate) != folded) continue;
    if (same.has_value() && *same != candidate) return std::nullopt;
    same = candidate;
  }
  if (same.has_value()) return same;
  const auto synonyms = Synonyms().find(folded);
  if (synonyms == Synonyms().end()) return std::nullopt;
  for (const std::string& ours : synonyms->second) {
    if (is_known(ours)) return ours;
  }
  return std::nullopt;
}

std::string UsualPath(const std::string& path) {
  static const auto* const kUsual =
      new std::map<std::string, std::string>{{"lr", "training.optimizer.learning_rate"},
                                             {"learning_rate", "training.optimizer.learning_rate"},
                                             {"weight_decay", "training.optimizer.weight_decay"},
                                             {"wd", "training.optimizer.weight_decay"},
                                             {"momentum", "training.optimizer.sgd.momentum"},
                                             {"optimizer", "training.optimizer"},
                                             {"epochs", "training.epochs"},
                                             {"epoch", "training.epochs"},
                                             {"num_epochs", "training.epochs"},
                                             {"batch_size", "training.batch_size"},
                                             {"batch", "training.batch_size"},
                                             {"bs", "training.batch_size"},
                                             {"scheduler", "training.schedule"},
                                             {"image_size", "input.size"},
                                             {"img_size", "input.size"},
                                             {"size", "input.size"}};
  const auto usual = kUsual->find(path.substr(path.rfind('.') + 1));
  return usual == kUsual->end() ? path : usual->second;
}

}  // namespace openset
