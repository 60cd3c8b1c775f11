#include "experiments/study/source_changes.h"

#include "absl/strings/str_cat.h"
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

void SourceChanges::Add(const Provenance& provenance) {
  std::set<std::string> changed;
  for (const StageProvenance& stage : provenance.stage()) {
    seen_.insert(stage.key());
    const FingerprintTable table = TableOf(stage.stage(), current_);
    if (table == nullptr) continue;
    for (const ComponentProvenance& component : stage.component()) {
      const ComponentSources now = SourcesOf(component.family(), component.name(), table);
      if (now.fingerprint.empty() || !component.has_fingerprint() || now.fingerprint == component.fingerprint()) {
        continue;
      }
      changed.insert(now.target);
      keys_.insert(stage.key());
    }
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

absl::Status AddStored(const Plan& plan, const Store& store, size_t first, SourceChanges* changes) {
  for (size_t n = first; n < plan.nodes.size(); ++n) {
    const PlanNode& node = plan.nodes[n];
    if (node.kind != ActionKind::kEvaluate || !node.done) continue;
    OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, store.LoadRecord(node.key));
    changes->Add(record.provenance());
  }
  for (size_t n = first; n < plan.nodes.size(); ++n) {
    const PlanNode& node = plan.nodes[n];
    if (!node.done || changes->HasSeen(node.key)) continue;
    Provenance provenance;
    if (node.kind == ActionKind::kTrain) {
      OPENSET_ASSIGN_OR_RETURN(const TrainSummary summary, store.LoadTrainSummary(node.key));
      *provenance.add_stage() = summary.provenance();
    } else if (node.kind == ActionKind::kInfer) {
      OPENSET_ASSIGN_OR_RETURN(const InferSummary summary, store.LoadInferSummary(node.key));
      *provenance.add_stage() = summary.provenance();
    }
    changes->Add(provenance);
  }
  return absl::OkStatus();
}

}  // namespace openset
