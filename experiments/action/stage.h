// A stage is the interface to one kind of action. Code that plans, runs or shows actions calls it. Such code
// distinguishes kinds itself only where the shape of a plan depends on them: choices, and the records at its end. Each
// kind is one file: train.cc, infer.cc, evaluate.cc, choose.cc.
//
// The life of an action:
//   1. ActionsOf() (experiments/spec/resolve/actions.h) gives the actions of a trial, with their keys and inputs.
//      Work() estimates their cost. AddReads() lists the data that they read.
//   2. Needs() returns the resources that an action occupies while it runs.
//   3. The result is in the store. IsInStore(), Check() and LoadProvenance() read it; Quarantine() and Remove() remove
//      it from there.
#ifndef OPENSET_EXPERIMENTS_ACTION_STAGE_H_
#define OPENSET_EXPERIMENTS_ACTION_STAGE_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/task.pb.h"
#include "experiments/action/action.h"
#include "experiments/action/action_memory.pb.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/trial.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Returns the number of samples of a selection.
using SampleCounter = std::function<int64_t(const Selection&)>;

// The inputs of actions other than the results of other actions.
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
  // "training"; "import"; plural with an s.
  virtual const char* Noun(ActionRole role) const = 0;
  // Whether it passes images through a network, on the trial's device and in its precision. Default: no.
  virtual bool RunsModel() const { return false; }

  // The image passes (Action.work), and the data that the action reads. `trial` is any trial that needs the action.
  // Default: none.
  virtual int64_t Work(const Action&, const Trial& /*trial*/, const SampleCounter& /*count_samples*/) const {
    return 0;
  }
  virtual void AddReads(const Action&, const Trial& /*trial*/, ActionReads*) const {}
  // The image passes that an action adds as a passenger (Action.passengers), if it takes `work` when it runs alone.
  // Default: `work`.
  virtual int64_t WorkAsPassenger(const Trial& /*trial*/, int64_t work) const { return work; }

  // The resources that the action occupies. Default: none.
  virtual Demand Needs(const Trial&, const ActionMemory&) const { return {}; }
  // Whether an action whose trial has this number of threads gives bit-identical results on any number of CPUs, and can
  // get more of them while it runs. Default: no.
  virtual bool CanUseMoreCpus(int /*threads*/) const { return false; }
  // Whether the action saves its state when it is asked to stop, and later continues from it. Default: no.
  virtual bool SavesState() const { return false; }
  // The path of the result in the store, and whether the result is there. Default: there is no result. Errors: a read
  // failure (IsReadFailure() in experiments/store/store.h).
  virtual std::string ResultPath(const Store&, const std::string& /*key*/) const { return ""; }
  virtual absl::StatusOr<bool> IsInStore(const Store&, const std::string& /*key*/) const { return false; }
  // Compares the result with its checksums. Errors, with the path: kNotFound; kDataLoss if it is corrupt or of another
  // schema version; kUnimplemented if a newer openset wrote it; a read failure.
  virtual absl::Status Check(const Store&, const std::string& /*key*/) const { return absl::OkStatus(); }
  // The stages that made a result: for a record, all of them; otherwise the action's own. Errors: as Check(); kNotFound
  // also for other kinds.
  virtual absl::StatusOr<Provenance> LoadProvenance(const Store&, const std::string& key) const {
    return absl::NotFoundError(key);
  }
  // Moves the result to the store's quarantine/ and returns its new folder there, or removes it and the saved state, if
  // there are any. Errors: kNotFound from Quarantine() if the result is gone; a read failure; a write error
  // (core/files/files.h).
  absl::StatusOr<std::string> Quarantine(const Store& store, const std::string& key, const std::string& reason) const;
  absl::Status Remove(const Store& store, const std::string& key) const;
  // The state that an action has saved to continue from.
  bool HasSavedState(const Store& store, const std::string& key) const;
  absl::Status RemoveSavedState(const Store& store, const std::string& key) const;

 protected:
  // The demand of a training or an inference: the threads of its trial, or one share of a GPU.
  static Demand NeedsOfPasses(const Trial& trial, int64_t memory_mb);
};

const Stage& StageOf(ActionKind kind);
inline const Stage& StageOf(const Action& action) { return StageOf(action.kind); }

// "train", "infer", "evaluate", "choose".
inline const char* KindName(ActionKind kind) { return StageOf(kind).Verb(ActionRole::kMain); }

// ---- The memory of actions, over all kinds (ActionMemory).

// Whether the memory of any kind is set.
bool IsAnySet(const ActionMemory& memory);

// Sets the memory of the kinds without one to `megabytes`.
void FillMemory(int64_t megabytes, ActionMemory* memory);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ACTION_STAGE_H_
