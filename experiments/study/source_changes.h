// Which results were made by a version of the source code that has changed since.
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

// The current fingerprints of each stage's components.
struct CurrentSources {
  FingerprintTable train;
  FingerprintTable infer;
  FingerprintTable evaluate;
  FingerprintTable fitted_heads = nullptr;  // whatever the stage
};

// The fingerprints in this program and in the worker that was built with it.
CurrentSources SourcesOfThisProgram();

// Compares provenances with the current sources. Components without a fingerprint on either side are not compared.
class SourceChanges {
 public:
  explicit SourceChanges(const CurrentSources& current = SourcesOfThisProgram()) : current_(current) {}

  // Adds the provenance of one result.
  void Add(const Provenance& provenance);
  void Add(const std::vector<RecordIndex::Stage>& stages);

  // The keys of the actions whose sources have changed since.
  const std::unordered_set<std::string>& keys() const { return keys_; }
  // Whether Add() has seen this training or inference.
  bool HasSeen(const std::string& key) const { return seen_.count(key) > 0; }

  // One line for each component: "4 results were made by another version of eval/scores/fdbd; --redo=changed makes
  // them again". If there are more than three components, one line for all of them: "Made by another version of 5
  // components (losses/open_auc 4 results, ...); --redo=changed makes these results again".
  std::vector<std::string> Lines() const;

 private:
  // The targets of the components whose sources have changed since.
  const std::set<std::string>* ChangedOf(const StageProvenance& stage);
  void Count(const std::string& key, bool is_changed);

  const CurrentSources current_;
  std::map<const StageProvenance*, const std::set<std::string>*> changed_;  // for stages of an index
  // By the part of a stage that ChangedOf() reads: many results have the same.
  std::unordered_map<std::string, const std::set<std::string>*> changed_of_;
  std::set<std::set<std::string>> lists_;  // keep addresses
  std::unordered_set<std::string> keys_;
  std::unordered_set<std::string> seen_;
  // The number of results for each list of changed components; there are few lists.
  std::map<std::set<const std::set<std::string>*>, int> results_;
};

// Adds the stored results of a plan's actions from `first` on: records, by way of their index, and trainings and
// inferences without a record. Skips results that are corrupt or of another schema version.
void AddStored(const Plan& plan, const Store& store, size_t first, RecordIndex* index, SourceChanges* changes);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_
