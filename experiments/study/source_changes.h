// Which results were made by components whose sources are others by now.
#ifndef OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_
#define OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/plan/plan.h"
#include "experiments/store/components.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// What the components of each stage are built from now.
struct CurrentSources {
  FingerprintTable train;
  FingerprintTable infer;
  FingerprintTable evaluate;
};

// Those of this program, and of the worker that was built with it.
CurrentSources SourcesOfThisProgram();

// Compares provenances with the current sources. A component without a fingerprint on either side is not compared.
class SourceChanges {
 public:
  explicit SourceChanges(const CurrentSources& current = SourcesOfThisProgram()) : current_(current) {}

  // Of one result.
  void Add(const Provenance& provenance);

  // Of the actions that were done by other sources.
  const std::set<std::string>& keys() const { return keys_; }
  bool HasSeen(const std::string& key) const { return seen_.count(key) > 0; }

  // A line a component: "4 results were made by another version of eval/scores/head/fdbd; --redo=changed makes them
  // again".
  std::vector<std::string> Lines() const;

 private:
  const CurrentSources current_;
  std::set<std::string> keys_, seen_;
  std::map<std::string, int> results_;  // by component
};

// Adds what the store has of a plan's nodes from `first` on: the records, and the trainings and inferences that no
// record came of yet. Errors: those of the store.
absl::Status AddStored(const Plan& plan, const Store& store, size_t first, SourceChanges* changes);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_
