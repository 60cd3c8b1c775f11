#include "experiments/study/source_changes.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/text/one_line.h"
#include "experiments/action/stage.h"

namespace openset {

// Defined by //experiments/train:train_fingerprints and similar targets.
extern const FingerprintRow openset_train_fingerprints[];
extern const FingerprintRow openset_infer_fingerprints[];
extern const FingerprintRow openset_evaluate_fingerprints[];
extern const FingerprintRow openset_arrays_fingerprints[];

namespace {

FingerprintTable TableOf(StageProvenance::Stage stage, const CurrentSources& current) {
  switch (stage) {
    case StageProvenance::TRAIN:
      return current.train;
    case StageProvenance::INFER:
    case StageProvenance::FIT:
      return current.infer;
    case StageProvenance::EVALUATE:
      return current.evaluate;
    case StageProvenance::STAGE_UNSPECIFIED:
      break;
  }
  return nullptr;
}

}  // namespace

CurrentSources SourcesOfThisProgram() {
  return {openset_train_fingerprints, openset_infer_fingerprints, openset_evaluate_fingerprints,
          openset_arrays_fingerprints};
}

const std::set<std::string>* SourceChanges::ChangedOf(const StageProvenance& stage) {
  std::string looked_at = absl::StrCat(stage.stage());
  for (const ComponentProvenance& component : stage.component()) {
    absl::StrAppend(&looked_at, "\n", component.family(), " ", component.name(), " ",
                    component.has_fingerprint() ? component.fingerprint() : "-");
  }
  const auto [entry, is_new] = changed_of_.try_emplace(std::move(looked_at));
  std::set<std::string>* const changed = &entry->second;
  if (!is_new) return changed;
  for (const ComponentProvenance& component : stage.component()) {
    const bool is_head = component.family() == "FeaturesSpec";
    const FingerprintTable table = is_head ? current_.fitted_heads : TableOf(stage.stage(), current_);
    if (table == nullptr) break;
    const ComponentSources now = SourcesOf(component.family(), component.name(), table);
    const bool is_known = !now.fingerprint.empty() && component.has_fingerprint();
    if (is_known && now.fingerprint != component.fingerprint()) changed->insert(now.target);
  }
  return changed;
}

void SourceChanges::Add(const std::string& key, const Provenance& provenance) {
  const std::lock_guard lock(mutex_);
  std::set<const std::set<std::string>*> lists;
  for (const StageProvenance& stage : provenance.stage()) {
    const std::set<std::string>* changed = ChangedOf(stage);
    // HasSeen() is only called for trainings and inferences.
    if (stage.stage() != StageProvenance::EVALUATE) seen_.insert(stage.key());
    if (changed->empty()) continue;
    keys_.insert(stage.key());
    lists.insert(changed);
  }
  if (!lists.empty()) results_[key] = std::move(lists);
}

std::vector<std::string> SourceChanges::Lines() const {
  std::map<std::string, int> of_component;
  for (const auto& [key, lists] : results_) {
    std::set<absl::string_view> changed;
    for (const std::set<std::string>* list : lists) changed.insert(list->begin(), list->end());
    for (const absl::string_view target : changed) ++of_component[std::string(target)];
  }
  constexpr size_t kMostLines = 3;
  std::vector<std::string> lines;
  if (of_component.size() > kMostLines) {
    std::vector<std::string> parts;
    for (const auto& [target, results] : of_component) {
      const bool is_first = parts.empty();
      parts.push_back(absl::StrCat(OneLine(target), " ", results,
                                   !is_first      ? ""
                                   : results == 1 ? " result"
                                                  : " results"));
    }
    lines.push_back(absl::StrCat("Made by another version of ", of_component.size(), " components (",
                                 absl::StrJoin(parts, ", "), "); --redo=changed makes these results again"));
    return lines;
  }
  for (const auto& [target, results] : of_component) {
    lines.push_back(absl::StrCat(results, results == 1 ? " result was" : " results were",
                                 " made by another version of ", OneLine(target), "; --redo=changed makes ",
                                 results == 1 ? "it" : "them", " again"));
  }
  return lines;
}

void AddWithoutRecord(const Plan& plan, const Store& store, size_t first, SourceChanges* changes) {
  for (size_t a = first; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    if (action.kind == ActionKind::kEvaluate || !action.is_done() || changes->HasSeen(action.key)) continue;
    const absl::StatusOr<Provenance> provenance = StageOf(action).LoadProvenance(store, action.key);
    if (provenance.ok()) changes->Add(action.key, *provenance);
  }
}

}  // namespace openset
