// Lists and reads what a store contains.
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

// What could not be read, folders or records. It doesn't stop the reading of the rest: a command that shows the rest
// names it and fails (Problems()), and a command that removes or passes on results stops (ReadFailure()).
struct UnreadRecords {
  // Corrupt records and entries in the place of folders, in the order of their paths: "PATH: ...".
  std::vector<std::string> damaged;
  // What can't be read now (IsReadFailure()): "cannot list PATH: Permission denied". Nothing is known about it.
  std::vector<std::string> unreadable;
  // The number of records with another schema version, by version.
  std::map<int, int> other_versions;

  // Adds the reason why something could not be read. OK and kNotFound add nothing: it has been removed meanwhile.
  void Add(const absl::Status& status);
  // VersionLine() for each entry of other_versions.
  std::vector<std::string> VersionLines() const;
  // The error for a command that showed the rest: kAborted, with a line for everything that is damaged or unreadable.
  absl::Status Problems() const;
  // The error for a command that must know everything: kUnavailable, with the lines of `unreadable`.
  absl::Status ReadFailure() const;
};

// "2 files or folders can't be read now ...: LINE; LINE"; "" for no line.
std::string UnreadableText(const std::vector<std::string>& unreadable);

// Trial ids and keys, sorted. Other names are left out. Folders that can't be listed go to `unread`, and with the trial
// ids of a bundle its corrupt results.
std::vector<std::string> RecordIds(const Store& store, UnreadRecords* unread);
std::vector<std::string> CheckpointKeys(const Store& store, UnreadRecords* unread);
std::vector<std::string> OutputsKeys(const Store& store, UnreadRecords* unread);
// The trials with several records (experiments/store/merge.h).
std::vector<std::string> ReplicaIds(const Store& store, UnreadRecords* unread);

// The further records of a trial, apart from the first one: their folder, and their paths, sorted. Each is named by the
// SHA-256 of its bytes. Errors: kDataLoss if the folder's name is taken by something else; a read failure
// (IsReadFailure() in experiments/store/store.h).
std::string ReplicaFolder(const Store& store, const std::string& trial_id);
absl::StatusOr<std::vector<std::string>> ReplicaPaths(const Store& store, const std::string& trial_id);

// The paths of entries below records/, checkpoints/, outputs/ and replicas/ with names that no result can have, sorted.
std::vector<std::string> UnknownEntries(const Store& store, UnreadRecords* unread);

// The trial whose id starts with `beginning`. Errors: kNotFound; kInvalidArgument for fewer digits than these, or if
// several ids start with it (the message names some); kDataLoss if something other than a folder is where the records
// should be; a read failure.
inline constexpr size_t kFewestTrialDigits = 4;
absl::StatusOr<std::string> FindTrial(const Store& store, absl::string_view beginning);

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
