#include "experiments/study/source_changes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/digest.h"
#include "core/in_parallel.h"
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
  const std::set<std::string>*& list = changed_of_[looked_at];
  if (list != nullptr) return list;
  std::set<std::string> changed;
  for (const ComponentProvenance& component : stage.component()) {
    const bool is_head = component.family() == "FeaturesSpec";
    const FingerprintTable table = is_head ? current_.fitted_heads : TableOf(stage.stage(), current_);
    if (table == nullptr) break;
    const ComponentSources now = SourcesOf(component.family(), component.name(), table);
    const bool is_known = !now.fingerprint.empty() && component.has_fingerprint();
    if (is_known && now.fingerprint != component.fingerprint()) changed.insert(now.target);
  }
  return list = &*lists_.insert(std::move(changed)).first;
}

void SourceChanges::Count(const std::string& key, bool is_changed) {
  seen_.insert(key);
  if (is_changed) keys_.insert(key);
}

void SourceChanges::Add(const Provenance& provenance) {
  std::set<const std::set<std::string>*> changed;
  for (const StageProvenance& stage : provenance.stage()) {
    const std::set<std::string>* of_stage = ChangedOf(stage);
    Count(stage.key(), !of_stage->empty());
    changed.insert(of_stage);
  }
  ++results_[changed];
}

void SourceChanges::Add(const std::vector<RecordIndex::Stage>& stages) {
  std::set<const std::set<std::string>*> changed;
  for (const RecordIndex::Stage& stage : stages) {
    const auto [entry, is_new] = changed_.try_emplace(stage.sources);
    if (is_new) entry->second = ChangedOf(*stage.sources);
    const std::set<std::string>* of_stage = entry->second;
    // HasSeen() is only called for trainings and inferences, so unchanged evaluations, which are most, are not counted.
    if (stage.sources->stage() == StageProvenance::EVALUATE && of_stage->empty()) continue;
    Count(ToHex(stage.key), !of_stage->empty());
    changed.insert(of_stage);
  }
  ++results_[changed];
}

std::vector<std::string> SourceChanges::Lines() const {
  std::map<std::string, int> of_component;
  for (const auto& [lists, results] : results_) {
    std::set<std::string> changed;
    for (const std::set<std::string>* list : lists) changed.insert(list->begin(), list->end());
    for (const std::string& target : changed) of_component[target] += results;
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

void AddStored(const Plan& plan, const Store& store, size_t first, RecordIndex* index, SourceChanges* changes) {
  std::vector<size_t> records;
  for (size_t a = first; a < plan.actions.size(); ++a) {
    if (plan.actions[a].kind == ActionKind::kEvaluate && plan.actions[a].is_done()) records.push_back(a);
  }
  constexpr int64_t kRange = 256;
  constexpr size_t kAtOnce = 1 << 14;
  std::vector<absl::StatusOr<std::vector<RecordIndex::Stage>>> looked;
  for (size_t begin = 0; begin < records.size(); begin += kAtOnce) {
    looked.resize(std::min(kAtOnce, records.size() - begin));
    InParallelWaitingRanges(static_cast<int64_t>(looked.size()), kRange, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) looked[i] = index->Look(plan.actions[records[begin + i]].key);
    });
    for (const auto& stages : looked) {
      if (stages.ok()) changes->Add(*stages);
    }
  }
  for (size_t a = first; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    if (action.kind == ActionKind::kEvaluate || !action.is_done() || changes->HasSeen(action.key)) continue;
    Provenance provenance;
    absl::StatusOr<StageProvenance> stage = StageOf(action).LoadProvenance(store, action.key);
    if (!stage.ok()) continue;
    *provenance.add_stage() = *std::move(stage);
    changes->Add(provenance);
  }
}

}  // namespace openset
