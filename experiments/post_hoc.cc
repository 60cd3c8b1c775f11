#include "experiments/post_hoc.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/proto_digest.h"
#include "core/proto_rules.h"
#include "experiments/check_method.h"

namespace openset {
namespace {

// One term, cross entropy with its defaults.
bool IsPlainCrossEntropy(const LossSpec& loss) {
  LossSpec plain, filled = loss;
  plain.add_term()->mutable_cross_entropy();
  FillDefaults(&plain);
  FillDefaults(&filled);
  return MessageDigest(plain) == MessageDigest(filled);
}

// Why the method can't do with a model that was trained without it; empty if it can.
std::string NeedsTraining(const MethodSpec& method) {
  if (method.inference().has_ensemble()) return "needs several trainings";
  if (method.has_open_set()) return "is trained with samples that stand for unknown classes";
  if (!IsPlainCrossEntropy(method.loss())) return "is trained with a loss of its own";
  if (!method.model().head().has_linear() || method.model().head().extra_outputs() > 0) {
    return "is trained with a head of its own";
  }
  return "";
}

bool HasDropout(const ModelSpec& model) {
  switch (model.backbone_case()) {
    case ModelSpec::kVgg32:
      return model.vgg32().dropout() > 0;
    case ModelSpec::kOsrciCnn:
      return model.osrci_cnn().dropout() > 0;
    case ModelSpec::kResnetCifar:
      return model.resnet_cifar().block_dropout() > 0 || model.resnet_cifar().feature_dropout() > 0;
    case ModelSpec::kResnetImagenet:
      return model.resnet_imagenet().block_dropout() > 0 || model.resnet_imagenet().feature_dropout() > 0;
    case ModelSpec::kTorchScript:  // check_method has more to say
      return true;
    case ModelSpec::BACKBONE_NOT_SET:
      return false;
  }
  return false;
}

// All that tells two post-hoc methods on one model apart.
std::string HowItScores(const MethodSpec& method) {
  MethodSpec own;
  *own.mutable_inference() = method.inference();
  *own.mutable_score() = method.score();
  return MessageDigest(own);
}

}  // namespace

absl::StatusOr<PostHocMethods> MakePostHoc(std::vector<LoadedMethod> methods, const ModelSpec& model,
                                           const InputSpec& input) {
  PostHocMethods result;
  std::map<std::string, std::string> seen;
  for (LoadedMethod& loaded : methods) {
    MethodSpec& spec = loaded.spec;
    FillDefaults(&spec);
    std::string why = NeedsTraining(spec);
    if (why.empty()) {
      *spec.mutable_model() = model;
      *spec.mutable_input() = input;
      spec.clear_augmentation();
      spec.clear_loss();
      spec.clear_training();
      FillDefaults(&spec);
      std::vector<FieldProblem> problems = FindProblems(spec);
      if (problems.empty()) problems = FindMethodProblems(spec);
      for (const FieldProblem& problem : problems) {
        if (!absl::StartsWith(problem.path, "score") && !absl::StartsWith(problem.path, "inference")) {
          return absl::InvalidArgumentError(absl::StrCat(problem.path, ": ", problem.message));
        }
      }
      if (!problems.empty()) {
        why = problems[0].message;
      } else if (spec.inference().has_mc_dropout() && !HasDropout(spec.model())) {
        why = "needs a model with dropout";
      } else if (const auto [first, is_new] = seen.emplace(HowItScores(spec), spec.name()); !is_new) {
        why = absl::StrCat("scores as ", first->second, " does");
      }
    }
    if (why.empty()) {
      result.methods.push_back(std::move(loaded));
    } else {
      result.skipped.push_back({spec.name(), why});
    }
  }
  return result;
}

}  // namespace openset
