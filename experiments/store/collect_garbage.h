// What a store uses on disk, and what of it can be removed.
#ifndef OPENSET_EXPERIMENTS_STORE_COLLECT_GARBAGE_H_
#define OPENSET_EXPERIMENTS_STORE_COLLECT_GARBAGE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"

namespace openset {

// ---- The disk usage of a store, by study and by kind of file.

// Which files count.
enum class BytesOf {
  kAll,
  kFreed,  // files whose removal frees space: none that has another hard link
};

// The size of a file, or of all files below a folder. Links count 0, as does everything that is gone. Errors: a read
// error other than kNotFound (core/files/system_calls.h).
absl::StatusOr<int64_t> BytesBelow(const std::string& path, BytesOf of = BytesOf::kAll);

struct StudyUsage {
  std::string name;  // of the study that first made the records (TrialSpec.experiment)
  int64_t records = 0;
  std::set<std::string> users;  // the users who made them; without ""
  double last_seconds = 0;      // completion of the newest, in seconds since 1970 UTC; 0: unknown
  // The size of its records and of their checkpoints and outputs. Files that several studies share count for each.
  int64_t bytes = 0;
};

// Sorted by name. What can't be read goes to `unread`. `by_user`, if not null, gets the size of the records,
// checkpoints and outputs that each user made, each once; without results of unknown users.
std::vector<StudyUsage> UsageByStudy(const Store& store, UnreadRecords* unread,
                                     std::map<std::string, int64_t>* by_user = nullptr);

// The size of each folder of the store ("checkpoints", "outputs" ...), largest first, without empty ones; of a bundle
// its own size, "bundle", and what it contains, unpacked. Folders in which something can't be read go to `unread`.
std::vector<std::pair<std::string, int64_t>> UsageByKind(const Store& store, UnreadRecords* unread);

// The sum of these sizes. Errors: kUnavailable if something can't be read now.
absl::StatusOr<int64_t> BytesOfStore(const Store& store);

// "3.4 GB".
std::string BytesText(int64_t bytes);

// Parses "200GB", "1.5 TB", "500 MB", "20 kB" or "4096". Units are powers of 1000, as in BytesText(). Errors:
// kInvalidArgument for any other text and for more than 10^18 bytes.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text);

// ---- Finds and removes files that a store no longer needs.

// Records, replicas and failed attempts always stay. These are garbage:
//   * temporary files whose process has ended (experiments/store/processes/orphans.h);
//   * the saved state of a training whose checkpoint is complete;
//   * checkpoints and outputs without a record, logs, and everything in quarantine/, if older than `older_than`;
//   * with `checkpoints_older_than`: older checkpoints with a record, if the outputs of that record exist (they are
//     enough to compute more scores and metrics);
//   * with `programs_in_use`: other programs that were copied for Slurm (programs/);
//   * with `most_bytes`, until the store is no larger: first checkpoints and outputs without a record, logs and the
//     quarantine; then checkpoints whose records have their outputs; then outputs of records; then other checkpoints;
//     the oldest first in each group. All of them can be made again: outputs from checkpoints, checkpoints by training.
// These stay too: everything that a process is working on, everything younger than an hour, and all files whose names
// are not openset's. Ages are measured by the clock of the store's disk (Store::Now()), which gave the files their
// times.
struct GarbagePolicy {
  absl::Duration older_than = absl::Hours(30 * 24);
  std::optional<absl::Duration> checkpoints_older_than;
  std::optional<std::set<std::string>> programs_in_use;  // by their names, the SHA-256
  std::optional<int64_t> most_bytes;                     // of the whole store
  // With `most_bytes`, for the study that is running now: keys of checkpoints and outputs that it still needs, which
  // stay, and of others that it no longer needs, which may be removed even if they are younger than an hour.
  std::set<std::string> needed, done_with;
};

struct Garbage {
  std::string path;
  std::string reason;  // "no record uses it"
  int64_t bytes = 0;   // without files that have another hard link
};

struct GarbageFound {
  std::vector<Garbage> garbage;  // sorted by path
  // OK, or why the clock of the store's disk can't be read. Then this machine's clock measured the ages.
  absl::Status clock;
};

// The garbage according to the policy. Errors: kNotFound if there is no store; kFailedPrecondition if the folder is not
// a store, or has another schema version; kPermissionDenied if one of its own folders is a link; kDataLoss for a
// corrupt record, because its inputs are not known then; kUnavailable or another read error (core/files/system_calls.h)
// if anything that decides what is garbage can't be read now.
absl::StatusOr<GarbageFound> FindGarbage(const Store& store, const GarbagePolicy& policy);

// Removes the garbage. Errors: `clock`, if there is any garbage, before anything is removed; a write error
// (core/files/files.h); a read error other than kNotFound.
absl::Status RemoveGarbage(const Store& store, const GarbageFound& found);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_COLLECT_GARBAGE_H_
