// Lists what a store contains, by name.
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

// Whether this can be the name of a result: 64 lower-case hexadecimal digits.
bool IsKey(absl::string_view name);

// Trial ids and keys, sorted. Other names are left out.
std::vector<std::string> RecordIds(const Store& store);
std::vector<std::string> CheckpointKeys(const Store& store);
std::vector<std::string> OutputsKeys(const Store& store);
// The trials with several records (experiments/store/merge.h).
std::vector<std::string> ReplicaIds(const Store& store);

// The further records of a trial, apart from the first one: their folder, and their paths, sorted. Each is named by the
// SHA-256 of its bytes.
std::string ReplicaFolder(const Store& store, const std::string& trial_id);
std::vector<std::string> ReplicaPaths(const Store& store, const std::string& trial_id);

// The paths of entries below records/, checkpoints/, outputs/ and replicas/ with names that no result can have, sorted.
std::vector<std::string> Strangers(const Store& store);

// The trial whose id starts with `beginning`. Errors: kNotFound; kInvalidArgument for fewer digits than these, or if
// several ids start with it (the message names some).
inline constexpr size_t kFewestTrialDigits = 4;
absl::StatusOr<std::string> FindTrial(const Store& store, absl::string_view beginning);

// Records that could not be read. They don't stop the reading of others.
struct UnreadRecords {
  // Corrupt or missing records, in the order of the ids: "PATH: ...".
  std::vector<std::string> damaged;
  // The number of records with another schema version, by version.
  std::map<int, int> other_versions;

  // Adds the reason why a record could not be loaded.
  void Add(const absl::Status& status);
  // VersionLine() for each entry of other_versions.
  std::vector<std::string> VersionLines() const;
};

// Reads these records on all CPUs, like Store::LoadRecord(), without the fields that have the numbers `without`. Calls
// use(i, record) for each ids[i] that can be read, from several threads at once and in any order. `use` may change
// `record`, which is reused after the call. Records that can't be read go to `unread`.
//
// This checks that a record states the id of its file's name, but not that the id matches the content (CheckTrialId()),
// which takes longer than reading. Merge, export and verify check that. A study's report takes the trial from the plan.
void ForEachRecord(const Store& store, const std::vector<std::string>& ids, absl::Span<const int> without,
                   const std::function<void(int64_t, TrialRecord*)>& use, UnreadRecords* unread);

// All readable records in the order of their ids, read by ForEachRecord().
std::vector<TrialRecord> LoadRecords(const Store& store, UnreadRecords* unread, absl::Span<const int> without = {});

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_STORE_CONTENTS_H_
