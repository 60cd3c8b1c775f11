#include "experiments/study/source_changes.h"

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/status_macros.h"

// Of //experiments/train:train_fingerprints and its like.
extern const char* const openset_train_fingerprints[];
extern const char* const openset_infer_fingerprints[];
extern const char* const openset_evaluate_fingerprints[];

namespace openset {
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
  return {openset_train_fingerprints, openset_infer_fingerprints, openset_evaluate_fingerprints};
}

std::set<std::string> SourceChanges::ChangedOf(const StageProvenance& stage) const {
  std::set<std::string> changed;
  const FingerprintTable table = TableOf(stage.stage(), current_);
  if (table == nullptr) return changed;
  for (const ComponentProvenance& component : stage.component()) {
    const ComponentSources now = SourcesOf(component.family(), component.name(), table);
    const bool is_known = !now.fingerprint.empty() && component.has_fingerprint();
    if (is_known && now.fingerprint != component.fingerprint()) changed.insert(now.target);
  }
  return changed;
}

void SourceChanges::Count(const std::string& key, const std::set<std::string>& changed_of_stage,
                          std::set<std::string>* changed) {
  seen_.insert(key);
  if (changed_of_stage.empty()) return;
  keys_.insert(key);
  changed->insert(changed_of_stage.begin(), changed_of_stage.end());
}

void SourceChanges::Add(const Provenance& provenance) {
  std::set<std::string> changed;
  for (const StageProvenance& stage : provenance.stage()) Count(stage.key(), ChangedOf(stage), &changed);
  for (const std::string& target : changed) ++results_[target];
}

void SourceChanges::Add(const std::vector<RecordIndex::Stage>& stages) {
  std::set<std::string> changed;
  for (const RecordIndex::Stage& stage : stages) {
    const auto [entry, is_new] = changed_.try_emplace(stage.sources);
    if (is_new) entry->second = ChangedOf(*stage.sources);
    // That a record is there is not asked for; most of its stages have changed in nothing.
    if (stage.sources->stage() == StageProvenance::EVALUATE && entry->second.empty()) continue;
    Count(ToHex(stage.key), entry->second, &changed);
  }
  for (const std::string& target : changed) ++results_[target];
}

std::vector<std::string> SourceChanges::Lines() const {
  std::vector<std::string> lines;
  for (const auto& [target, results] : results_) {
    lines.push_back(absl::StrCat(results, results == 1 ? " result was" : " results were",
                                 " made by another version of ", target, "; --redo=changed makes ",
                                 results == 1 ? "it" : "them", " again"));
  }
  return lines;
}

absl::Status AddStored(const Plan& plan, const Store& store, size_t first, RecordIndex* index, SourceChanges* changes) {
  for (size_t n = first; n < plan.nodes.size(); ++n) {
    const PlanNode& node = plan.nodes[n];
    if (node.kind != ActionKind::kEvaluate || !node.done) continue;
    const absl::StatusOr<std::vector<RecordIndex::Stage>> stages = index->Look(node.key);
    if (absl::IsFailedPrecondition(stages.status())) return stages.status();
    if (stages.ok()) changes->Add(*stages);
  }
  for (size_t n = first; n < plan.nodes.size(); ++n) {
    const PlanNode& node = plan.nodes[n];
    if (node.kind == ActionKind::kEvaluate || !node.done || changes->HasSeen(node.key)) continue;
    absl::Status read;
    Provenance provenance;
    if (node.kind == ActionKind::kTrain) {
      const absl::StatusOr<TrainSummary> summary = store.LoadTrainSummary(node.key);
      read = summary.status();
      if (read.ok()) *provenance.add_stage() = summary->provenance();
    } else if (node.kind == ActionKind::kInfer) {
      const absl::StatusOr<InferSummary> summary = store.LoadInferSummary(node.key);
      read = summary.status();
      if (read.ok()) *provenance.add_stage() = summary->provenance();
    }
    if (absl::IsFailedPrecondition(read)) return read;
    if (read.ok()) changes->Add(provenance);
  }
  return absl::OkStatus();
}

}  // namespace openset
