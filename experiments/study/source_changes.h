// Which results were made by components whose sources are others by now.
#ifndef OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_
#define OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "experiments/plan/plan.h"
#include "experiments/store/components.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/record_index.h"
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
  void Add(const std::vector<RecordIndex::Stage>& stages);

  // Of the actions that were done by other sources.
  const std::unordered_set<std::string>& keys() const { return keys_; }
  // Whether a training or an inference was among them.
  bool HasSeen(const std::string& key) const { return seen_.count(key) > 0; }

  // A line a component: "4 results were made by another version of eval/scores/head/fdbd; --redo=changed makes them
  // again"; one line of all where they are more than three: "Made by another version of 5 components (losses/open_auc 4
  // results, ...); --redo=changed makes these results again".
  std::vector<std::string> Lines() const;

 private:
  // The targets of those components whose sources are others by now.
  const std::set<std::string>* ChangedOf(const StageProvenance& stage);
  void Count(const std::string& key, bool is_changed);

  const CurrentSources current_;
  std::map<const StageProvenance*, const std::set<std::string>*> changed_;  // of those of an index
  // By what ChangedOf() looks at of a stage: many results have the same.
  std::unordered_map<std::string, const std::set<std::string>*> changed_of_;
  std::set<std::set<std::string>> lists_;  // keep addresses
  std::unordered_set<std::string> keys_;
  std::unordered_set<std::string> seen_;
  // Results by the lists of components that have changed of their stages: there are few.
  std::map<std::set<const std::set<std::string>*>, int> results_;
};

// Adds what the store has of a plan's actions from `first` on: the records, by way of their index, and the trainings
// and inferences that no record came of yet. What is damaged is passed over. Errors: kFailedPrecondition for what is of
// another schema version.
absl::Status AddStored(const Plan& plan, const Store& store, size_t first, RecordIndex* index, SourceChanges* changes);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_
