// What is particular to actions of one kind. Whoever plans, runs or shows actions asks here, and has no cases of its
// own. Each kind is one file: train.cc, infer.cc, evaluate.cc, choose.cc.
//
// The life of an action:
//   1. AddActions() says which actions a trial has, with their keys and inputs; Work() what they cost, AddReads() which
//      data they read.
//   2. Needs() says what an action occupies while it runs; FillRequest() tells a worker what to do.
//   3. Its result is in the store: IsInStore(), Check(), LoadProvenance(); Quarantine() and Remove() take it out again.
#ifndef OPENSET_EXPERIMENTS_ACTION_STAGE_H_
#define OPENSET_EXPERIMENTS_ACTION_STAGE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/task.pb.h"
#include "experiments/action/action.h"
#include "experiments/action/action_memory.pb.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/trial.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/record_index.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// An action of one trial, before the plan merges it with those of others.
struct TrialAction {
  ActionKind kind;
  ActionRole role = ActionRole::kMain;
  int member = 0;
  ActionKeys::Key key;
  std::vector<int> inputs;  // places in the list of the trial's actions
  // The same for inferences that can be done together; absent for what is done alone.
  std::optional<ActionKeys::Key> shared_passes;
};

// How many samples a selection has.
using SampleCounter = std::function<int64_t(const Selection&)>;

// What actions read besides the results of others.
struct ActionReads {
  std::set<const Selection*> selections;
  std::set<const ModelSpec*> models;
};

class Stage {
 public:
  virtual ~Stage() = default;

  // "train"; "import" of a model.
  virtual const char* Verb(ActionRole role) const = 0;
  // "trained  "; all have the same width.
  virtual const char* PastTense(ActionRole role) const = 0;

  // Appends the trial's actions of this kind to those of the kinds before. Default: none.
  virtual void AddActions(const Trial&, const ActionKeys::Keys& /*keys*/, std::vector<TrialAction>* /*actions*/) const {
  }
  // Image passes (Action.work), and what it reads. `trial` is one that needs the action. Default: none.
  virtual int64_t Work(const Action&, const Trial& /*trial*/, const SampleCounter& /*count_samples*/) const {
    return 0;
  }
  virtual void AddReads(const Action&, const Trial& /*trial*/, ActionReads*) const {}
  // Image passes that an action of `work` alone adds as a passenger (Action.passengers). Default: the same.
  virtual int64_t WorkAsPassenger(int64_t work) const { return work; }

  // Default: nothing.
  virtual Demand Needs(const Trial&, const ActionMemory&) const { return {}; }
  // Whether an action whose trial has so many threads gives the same bits on any number of CPUs. Default: no.
  virtual bool CanUseMoreCpus(int /*threads*/) const { return false; }
  // Whether it saves its state when it is asked to stop, and continues from it. Default: no.
  virtual bool SavesState() const { return false; }
  // Its field of the request. Default: none, as no worker does it.
  virtual void FillRequest(const Action&, const Trial& /*trial*/, WorkRequest*) const {}

  // Where its result is in the store. Default: "", as there is none, and it never is in the store.
  virtual std::string ResultPath(const Store&, const std::string& /*key*/) const { return ""; }
  virtual bool IsInStore(const Store&, const std::string& /*key*/) const { return false; }
  // Compares the result with its checksums. Errors: those of Store::Check...() and RecordIndex::Look().
  virtual absl::Status Check(const Store&, RecordIndex*, const std::string& /*key*/) const { return absl::OkStatus(); }
  // What made the result, of results that records are made of. Errors: those of Store::Load...Summary(); kNotFound for
  // other kinds.
  virtual absl::StatusOr<StageProvenance> LoadProvenance(const Store&, const std::string& key) const {
    return absl::NotFoundError(key);
  }
  // Errors: those of Store::Quarantine() and Store::Remove(), whose result is the same. Remove() also removes a saved
  // state.
  absl::StatusOr<std::string> Quarantine(const Store& store, const std::string& key, const std::string& reason) const;
  absl::Status Remove(const Store& store, const std::string& key) const;

 protected:
  // What a training or an inference occupies: as many CPU threads as its trial has, or one share of a GPU.
  static Demand NeedsOfPasses(const Trial& trial, int64_t memory_mb);
};

const Stage& StageOf(ActionKind kind);
inline const Stage& StageOf(const Action& action) { return StageOf(action.kind); }

// "train", "infer", "evaluate", "choose".
inline const char* KindName(ActionKind kind) { return StageOf(kind).Verb(ActionRole::kMain); }

// A trial's actions, inputs first. They replace what `actions` held.
void ActionsOf(const Trial& trial, const ActionKeys::Keys& keys, std::vector<TrialAction>* actions);

// The key of the choice among these trials.
std::string ChoiceKey(const std::vector<std::string>& trial_ids);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ACTION_STAGE_H_
