#include "experiments/check_method.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "eval/scores/score_needs.h"
#include "losses/loss_needs.h"

namespace openset {

namespace {

bool IsPowerOfTwo(int size) { return size >= 8 && (size & (size - 1)) == 0; }

// A training of the method: of a MethodSpec, or of its PretrainingSpec, whose paths begin with `prefix`.
template <typename Stage>
void CheckStage(const MethodSpec& method, const Stage& stage, int views, const std::string& prefix,
                std::vector<FieldProblem>* problems) {
  const auto add = [&](const std::string& path, const std::string& message) {
    problems->push_back({prefix + path, message});
  };
  bool open_set_used = false;
  bool plain_term = false;
  for (int i = 0; i < stage.loss().term_size(); ++i) {
    const std::string path = absl::StrCat("loss.term[", i, "]");
    const LossNeeds needs = NeedsOf(stage.loss().term(i));
    open_set_used = open_set_used || needs.open_set;
    plain_term = plain_term || !needs.open_set;
    if (needs.open_set && !stage.has_open_set()) {
      add(path, "needs samples that stand for unknown classes: set open_set");
    }
    if (needs.slots && stage.has_open_set() && !stage.open_set().has_feature_mixup()) {
      add(path, "pairs by slot, which only feature_mixup makes: set open_auc.pairs to ALL");
    }
    if (needs.points && method.model().head().has_linear()) {
      add(path, "needs a point per class: set model.head to prototype or reciprocal_point");
    }
    if (needs.extra_views != 0 && needs.extra_views != views) {
      add(path, absl::StrCat("needs ", needs.extra_views, " views of each image, not ", views, ": set views.count"));
    }
    if (needs.extra_output && method.model().head().extra_outputs() == 0) {
      add(path, "needs an output for the unknown class: set model.head.extra_outputs to 1");
    }
  }
  if (!stage.has_open_set()) return;
  if (!open_set_used) add("open_set", "no loss term uses it");
  if (stage.open_set().plain_passes() > 0 && !plain_term) {
    add("open_set.plain_passes", "all terms need the open set, so nothing is left for a pass without it");
  }
  if (stage.open_set().has_confusing_images() && !IsPowerOfTwo(method.input().size())) {
    add("open_set.confusing_images",
        absl::StrCat("makes images whose size is a power of two, at least 8; input.size is ", method.input().size()));
  }
}

bool UsesViews(const LossSpec& loss) {
  for (const LossTermSpec& term : loss.term()) {
    if (NeedsOf(term).extra_views > 0) return true;
  }
  return false;
}

}  // namespace

std::vector<FieldProblem> FindMethodProblems(const MethodSpec& method) {
  std::vector<FieldProblem> problems;
  CheckStage(method, method, method.has_views() ? method.views().count() : 0, "", &problems);
  if (method.has_pretraining()) CheckStage(method, method.pretraining(), 0, "pretraining.", &problems);
  if (method.has_views() && !UsesViews(method.loss())) problems.push_back({"views", "no loss term uses them"});

  const ScoreNeeds score = NeedsOf(method.score());
  const bool mean = method.inference().has_mc_dropout() || method.inference().has_ensemble();
  if ((score.features || score.head) && mean) {
    problems.push_back({"score", "needs features, which a mean of several passes has not"});
  } else if (score.head && !method.model().head().has_linear()) {
    problems.push_back({"score", "needs the weights of a linear head"});
  } else if (score.head && method.model().head().linear().normalise_logits()) {
    problems.push_back({"score", "needs logits that are not normalised: unset model.head.linear.normalise_logits"});
  }

  if (score.extra_output && method.model().head().extra_outputs() == 0) {
    problems.push_back({"score", "needs an output for the unknown class: set model.head.extra_outputs to 1"});
  }

  const InputSpec& input = method.input();
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
