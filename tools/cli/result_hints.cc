#include "tools/cli/result_hints.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "data/splits/class_splits.h"
#include "experiments/report/hints.h"
#include "experiments/spec/describe.h"
#include "experiments/spec/method.proto.h"
#include "models/model.pb.h"

namespace openset {
namespace {

constexpr int kMost = 3;

// For each task: with cross-validation, each class split occurs once for each fold.
KnownClassesOfTasks KnownClassesOf(const Experiment& experiment) {
  KnownClassesOfTasks known;
  for (const TaskSpec& task : experiment.tasks) {
    const absl::StatusOr<std::vector<ClassSplit>> splits = ClassSplitsOf(task, experiment.catalog);
    if (!splits.ok()) continue;
    for (const ClassSplit& split : *splits) {
      for (int fold = 0; fold < Folds(task); ++fold) {
        known[task.name()].emplace_back(split.known().begin(), split.known().end());
      }
    }
  }
  return known;
}

// The indices of the known classes in the outputs of a script or a file of weights, in the matching order.
std::string OutputsOf(const ResultHint& hint) {
  const ModelSpec& model = hint.trial->method().model();
  const auto& given = model.has_torch_script() ? model.torch_script().output() : model.weights().output();
  std::vector<int> places;
  for (const int prediction : hint.prediction_of) {
    places.push_back(given.empty() ? prediction : given.Get(prediction));
  }
  return absl::StrJoin(places, ",");
}

// What the user should check. `by_flags`: for `openset score`.
std::string Advice(const ResultHint& hint, bool by_flags) {
  const MethodSpec& method = hint.trial->method();
  const bool is_script = method.model().has_torch_script();
  switch (hint.kind) {
    case ResultHint::Kind::kOtherSplit:
      return by_flags ? absl::StrCat("was the network trained on that one? --split=", hint.split, " measures it there")
                      : absl::StrCat("was the network trained on that one? split: ", hint.split);
    case ResultHint::Kind::kOtherOrder:
      if (!is_script && !by_flags) return "are the weights of this split and task, with its classes in this order?";
      return absl::StrCat(by_flags ? "--outputs=" : "torch_script.output: ", OutputsOf(hint),
                          " takes the network's outputs so; or it was trained on another split");
    case ResultHint::Kind::kNearChance:
      if (method.has_training()) {
        return "check the training (epochs, learning rate, its curve: openset figure SPEC --curve=loss) and input "
               "(mean, std)";
      }
      if (!by_flags) {
        return is_script ? "check input (size, mean, std), torch_script.output and split"
                         : "check input (size, mean, std), model.weights and split";
      }
      return is_script ? "check --mean, --std, --size, --outputs, --split"
                       : "check --mean, --std, --size, --weights, --split";
    case ResultHint::Kind::kBelowHalf:
      if (method.has_training()) return "check which classes are unknown, and the score's settings";
      return by_flags ? "check --split and the task's unknown classes; else these scores don't fit this network"
                      : "check split and the task's unknown classes; else these scores don't fit this network";
  }
  return "";
}

}  // namespace

std::vector<std::string> HintLines(const Study& study, const StudyResults& results) {
  // A study that `openset score` made is in no file, and about one network.
  const bool by_flags = !FileExists(study.experiment().source.file());
  std::vector<std::string> lines;
  std::map<ResultHint::Kind, int> count;
  for (const ResultHint& hint : FindHints(results.results, KnownClassesOf(study.experiment()))) {
    if (++count[hint.kind] > kMost) continue;
    const bool is_of_one = !by_flags && hint.kind != ResultHint::Kind::kBelowHalf;
    lines.push_back(absl::StrCat("hint: ", is_of_one ? absl::StrCat(Describe(*hint.trial), ": ") : "", hint.text, ": ",
                                 Advice(hint, by_flags)));
  }
  for (const auto& [kind, number] : count) {
    if (number > kMost)
      lines.push_back(absl::StrCat("hint: and so for ", number - kMost,
                                   number - kMost == 1 ? " more training" : " more trainings"));
  }
  return lines;
}

}  // namespace openset
