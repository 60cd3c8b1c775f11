// What a store can do without.
#ifndef OPENSET_EXPERIMENTS_STORE_COLLECT_GARBAGE_H_
#define OPENSET_EXPERIMENTS_STORE_COLLECT_GARBAGE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/store/store.h"

namespace openset {

// Records, replicas and failed attempts always stay. These go:
//   * temporaries whose process is gone (experiments/store/processes/orphans.h);
//   * the saved state of a training whose checkpoint is complete;
//   * checkpoints and outputs that no record was made of, logs, and what is in quarantine/, once they are older than
//     `older_than`;
//   * where `checkpoints_older_than` is given: checkpoints older than that which records were made of, as long as the
//     outputs those were measured on are there (they are enough for further scores and metrics);
//   * where `programs_in_use` is given: programs that were copied for Slurm (programs/) and are not among them.
//   * where `most_bytes` is given and the store has more: until it has not, the oldest first, of these in turn: what no
//     record was made of, logs and the quarantine; checkpoints whose records have their outputs; outputs of records;
//     other checkpoints. What went can be made again, outputs from checkpoints and checkpoints by training.
// What a process works on now stays, with all that is younger than an hour, and whatever has a name that nothing has in
// its place.
struct GarbagePolicy {
  absl::Duration older_than = absl::Hours(30 * 24);
  std::optional<absl::Duration> checkpoints_older_than;
  std::optional<std::set<std::string>> programs_in_use;  // by their names, the SHA-256
  std::optional<int64_t> most_bytes;                     // of the whole store
  // With `most_bytes`, of whoever runs a study now: keys of checkpoints and outputs that it still needs, which stay,
  // and of those that it made or used and needs no more, which may go though they are young.
  std::set<std::string> needed, done_with;
};

struct Garbage {
  std::string path;
  std::string reason;  // "no record was made of it"
  int64_t bytes = 0;   // of files that have no other name
};

// What the policy lets go now, sorted by path. Errors: those of Store::CheckIsStore(); kDataLoss for a
// record that can't be read, as nobody knows what it was made of.
absl::StatusOr<std::vector<Garbage>> FindGarbage(const Store& store, const GarbagePolicy& policy);

// Removes it. Errors: kUnavailable.
absl::Status RemoveGarbage(const Store& store, const std::vector<Garbage>& garbage);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_COLLECT_GARBAGE_H_
