// Computes a trial's score and metrics from stored outputs. The result is its record.
#include <utility>

#include "core/status_macros.h"
#include "experiments/action/stage.h"

namespace openset {
namespace {

class Evaluate : public Stage {
 public:
  const char* Verb(ActionRole /*role*/) const override { return "evaluate"; }
  const char* PastTense(ActionRole /*role*/) const override { return "evaluated"; }
  const char* Noun(ActionRole /*role*/) const override { return "evaluation"; }

  Demand Needs(const Trial& /*trial*/, const ActionMemory& memory) const override {
    return {.cpu_threads = 1, .memory_mb = memory.evaluate_mb()};
  }
  bool CanUseMoreCpus(int /*threads*/) const override { return true; }

  std::string ResultPath(const Store& store, const std::string& key) const override { return store.RecordPath(key); }
  absl::StatusOr<bool> IsInStore(const Store& store, const std::string& key) const override {
    return store.HasRecord(key);
  }
  absl::Status Check(const Store& store, const std::string& key) const override {
    return LoadProvenance(store, key).status();
  }
  absl::StatusOr<Provenance> LoadProvenance(const Store& store, const std::string& key) const override {
    constexpr int kWithout[] = {TrialRecord::kTrialFieldNumber, TrialRecord::kMetricFieldNumber,
                                TrialRecord::kEpochFieldNumber, TrialRecord::kDetailsFieldNumber};
    TrialRecord record;
    OPENSET_RETURN_IF_ERROR(store.LoadRecord(key, kWithout, &record));
    return std::move(*record.mutable_provenance());
  }
};

}  // namespace

const Stage& EvaluateStage() {
  static const Evaluate* const stage = new Evaluate;
  return *stage;
}

}  // namespace openset
