// What a store holds, by name.
#ifndef OPENSET_EXPERIMENTS_STORE_STORE_CONTENTS_H_
#define OPENSET_EXPERIMENTS_STORE_STORE_CONTENTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Whether it is one of the names that results have: 64 lower-case hexadecimal digits.
bool IsKey(absl::string_view name);

// Trial ids and keys, sorted. What has another name is left out.
std::vector<std::string> RecordIds(const Store& store);
std::vector<std::string> CheckpointKeys(const Store& store);
std::vector<std::string> OutputsKeys(const Store& store);
// Of records that are kept beside the first of their trial (experiments/store/merge.h).
std::vector<std::string> ReplicaIds(const Store& store);

// Records of a trial that the store has beside the first one, in this folder, each named by the SHA-256 of its bytes;
// paths, sorted.
std::string ReplicaFolder(const Store& store, const std::string& trial_id);
std::vector<std::string> ReplicaPaths(const Store& store, const std::string& trial_id);

// Entries below records/, checkpoints/, outputs/ and replicas/ that have a name nothing has there; paths, sorted.
std::vector<std::string> Strangers(const Store& store);

// The trial whose id begins so. Errors: kNotFound; kInvalidArgument for fewer than 4 digits, or if several do, with
// some of them.
absl::StatusOr<std::string> FindTrial(const Store& store, absl::string_view beginning);

// Records that were asked for and can't be read. None stops the others.
struct UnreadRecords {
  // What is damaged or missing, in the order of the ids: "PATH: ...".
  std::vector<std::string> damaged;
  // By schema version, another one: how many have it.
  std::map<int, int> other_versions;

  // Notes why one could not be loaded.
  void Add(const absl::Status& status);
  // VersionLine() of each of other_versions.
  std::vector<std::string> VersionLines() const;
};

// Reads these records on all CPUs, without the fields of the numbers `without`, as Store::LoadRecord() does. Calls
// use(i, record) for each ids[i] that can be read, from several threads at once and in no order; `record` is `use`'s to
// change, and gone after. What can't be read goes to `unread`. A record is that of its file's name by what it says
// itself; that its content is the trial of this id (CheckTrialId(), which takes longer than the reading) is checked
// where records come in or are handed on: by merge, export and verify. A study's report takes the trial from the plan.
void ForEachRecord(const Store& store, const std::vector<std::string>& ids, absl::Span<const int> without,
                   const std::function<void(int64_t, TrialRecord*)>& use, UnreadRecords* unread);

// All records that can be read, in the order of their ids, by ForEachRecord().
std::vector<TrialRecord> LoadRecords(const Store& store, UnreadRecords* unread, absl::Span<const int> without = {});

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_STORE_CONTENTS_H_
