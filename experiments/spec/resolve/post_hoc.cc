#include "experiments/spec/resolve/post_hoc.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/proto/proto_digest.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/method/inference_traits.h"
#include "experiments/spec/resolve/resolve_grid.h"
#include "losses/loss.pb.h"
#include "models/network_traits.h"

namespace openset {
namespace {

// Whether the loss is one term, cross entropy with its defaults.
bool IsPlainCrossEntropy(const LossSpec& loss) {
  LossSpec plain, filled = loss;
  plain.add_term()->mutable_cross_entropy();
  FillDefaults(&plain);
  FillDefaults(&filled);
  return MessageDigest(plain) == MessageDigest(filled);
}

// Returns why the method can't use a model that was trained without it; empty if it can.
std::string NeedsTraining(const MethodSpec& method) {
  if (const char* why = TraitsOf(method.inference()).needs_training; why != nullptr) return why;
  if (method.has_open_set()) return "is trained with samples that stand for unknown classes";
  if (method.has_pretraining()) return "is trained in two stages";
  if (!IsPlainCrossEntropy(method.loss())) return "is trained with its own loss";
  const HeadSpec& head = method.model().head();
  const LinearHeadSpec& linear = head.linear();
  if (!head.has_linear() || linear.normalise_logits() || linear.feature_temperature() > 0 || linear.stop_gradient() ||
      head.extra_outputs() > 0) {
    return "is trained with its own head";
  }
  return "";
}

// The fields in which two post-hoc methods on the same model can differ.
std::string HowItScores(const MethodSpec& method) {
  MethodSpec own;
  *own.mutable_inference() = method.inference();
  *own.mutable_score() = method.score();
  return MessageDigest(own);
}

// For each method, the number of methods with the same training.
std::vector<int> CountSameTrainings(const std::vector<LoadedMethod>& methods) {
  std::map<std::string, int> counts;
  std::vector<std::string> digests;
  for (const LoadedMethod& method : methods) {
    MethodSpec training = method.spec;
    training.clear_inference();
    training.clear_score();
    training.clear_decision();
    FillDefaults(&training);
    digests.push_back(MessageDigest(training));
    ++counts[digests.back()];
  }
  std::vector<int> result;
  for (const std::string& digest : digests) result.push_back(counts[digest]);
  return result;
}

// Sets the method's model and input and removes its training. Returns what the model lacks for the method.
absl::StatusOr<std::string> PutOnModel(const ModelSpec& model, const InputSpec& input, MethodSpec* method) {
  *method->mutable_model() = model;
  *method->mutable_input() = input;
  method->clear_augmentation();
  method->clear_loss();
  method->clear_training();
  const std::vector<FieldProblem> problems = ResolveMethod(method);
  for (const FieldProblem& problem : problems) {
    if (!absl::StartsWith(problem.path, "score") && !absl::StartsWith(problem.path, "inference")) {
      return absl::InvalidArgumentError(absl::StrCat(problem.path, ": ", problem.message));
    }
  }
  if (!problems.empty()) return problems[0].message;
  if (TraitsOf(method->inference()).uses_dropout && !TraitsOf(method->model()).has_dropout) {
    return "needs a model with dropout";
  }
  return "";
}

}  // namespace

absl::StatusOr<PostHocMethods> MakePostHoc(std::vector<LoadedMethod> methods, const ModelSpec& model,
                                           const InputSpec& input) {
  const std::vector<int> same_trainings = CountSameTrainings(methods);
  std::vector<std::string> reasons;
  // For each way of scoring, the index of the method whose training most methods share; if several have it, of the
  // first one.
  std::map<std::string, size_t> best;
  for (size_t m = 0; m < methods.size(); ++m) {
    MethodSpec& spec = methods[m].spec;
    FillDefaults(&spec);
    reasons.push_back(NeedsTraining(spec));
    if (reasons[m].empty()) {
      OPENSET_ASSIGN_OR_RETURN(reasons[m], PutOnModel(model, input, &spec));
    }
    if (!reasons[m].empty()) continue;
    const auto [entry, is_new] = best.emplace(HowItScores(spec), m);
    if (!is_new && same_trainings[m] > same_trainings[entry->second]) entry->second = m;
  }
  PostHocMethods result;
  for (size_t m = 0; m < methods.size(); ++m) {
    if (reasons[m].empty()) {
      const size_t first = best.at(HowItScores(methods[m].spec));
      if (first == m) continue;
      reasons[m] = absl::StrCat("has the same score as ", methods[first].spec.name());
    }
    result.skipped.push_back({methods[m].spec.name(), reasons[m]});
  }
  for (size_t m = 0; m < methods.size(); ++m) {
    if (reasons[m].empty()) result.methods.push_back(std::move(methods[m]));
  }
  return result;
}

}  // namespace openset
