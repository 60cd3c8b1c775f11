// Computes a trial's score and metrics from stored outputs. The result is its record.
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
  absl::Status Check(const Store& /*store*/, RecordIndex* index, const std::string& key) const override {
    return index->Look(key).status();
  }
};

}  // namespace

const Stage& EvaluateStage() {
  static const Evaluate* const stage = new Evaluate;
  return *stage;
}

}  // namespace openset
