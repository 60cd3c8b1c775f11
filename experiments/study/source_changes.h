// Which results were made by a version of the source code that has changed since.
#ifndef OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_
#define OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_

#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "experiments/plan/plan.h"
#include "experiments/store/components.h"
#include "experiments/store/record.proto.h"
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

  // Adds the provenance of the result of this key. Several threads may call it at once.
  void Add(const std::string& key, const Provenance& provenance);
  // Takes the result of this key out of Lines(), because it is to be made again.
  void Forget(const std::string& key) { results_.erase(key); }

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

  const CurrentSources current_;
  std::mutex mutex_;  // of all below in Add()
  // By the part of a stage that ChangedOf() reads: many results have the same.
  std::unordered_map<std::string, std::set<std::string>> changed_of_;
  std::unordered_set<std::string> keys_;
  std::unordered_set<std::string> seen_;
  // For each result with changed components, the lists of its stages.
  std::unordered_map<std::string, std::set<const std::set<std::string>*>> results_;
};

// Adds the stored trainings and inferences of a plan's actions from `first` on that no record has named yet. Skips
// results that are corrupt or of another schema version.
void AddWithoutRecord(const Plan& plan, const Store& store, size_t first, SourceChanges* changes);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_SOURCE_CHANGES_H_
