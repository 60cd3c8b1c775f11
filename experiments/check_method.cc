#include "experiments/check_method.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "eval/scores/score_needs.h"
#include "losses/loss_needs.h"

namespace openset {

std::vector<FieldProblem> FindMethodProblems(const MethodSpec& method) {
  std::vector<FieldProblem> problems;
  bool open_set_used = false;
  for (int i = 0; i < method.loss().term_size(); ++i) {
    const LossTermSpec& term = method.loss().term(i);
    const std::string path = absl::StrCat("loss.term[", i, "]");
    const LossNeeds needs = NeedsOf(term);
    open_set_used = open_set_used || needs.open_set;
    if (needs.open_set && !method.has_open_set()) {
      problems.push_back({path, "needs samples that stand for unknown classes: set open_set"});
    }
    if (needs.slots && method.has_open_set() && !method.open_set().has_feature_mixup()) {
      problems.push_back({path, "pairs by slot, which only feature_mixup makes: set open_auc.pairs to ALL"});
    }
    if (needs.points && method.model().head().has_linear()) {
      problems.push_back({path, "needs a point per class: set model.head to prototype or reciprocal_point"});
    }
    if (needs.extra_views > 0) problems.push_back({path, "needs several views of each image, which no method has yet"});
    if (needs.extra_output && method.model().head().extra_outputs() == 0) {
      problems.push_back({path, "needs an output for the unknown class: set model.head.extra_outputs to 1"});
    }
  }
  if (method.has_open_set() && !open_set_used) problems.push_back({"open_set", "no loss term uses it"});

  const ScoreNeeds score = NeedsOf(method.score());
  const bool mean = method.inference().has_mc_dropout() || method.inference().has_ensemble();
  if ((score.features || score.head) && mean) {
    problems.push_back({"score", "needs features, which a mean of several passes has not"});
  } else if (score.head && !method.model().head().has_linear()) {
    problems.push_back({"score", "needs the weights of a linear head"});
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
