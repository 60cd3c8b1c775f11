// Checks that everything in a store is intact.
#ifndef OPENSET_EXPERIMENTS_STORE_VERIFY_STORE_H_
#define OPENSET_EXPERIMENTS_STORE_VERIFY_STORE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/store/store.h"

namespace openset {

struct StoreProblem {
  // The whole result: the record, or the folder of a checkpoint or of outputs. Or an entry where the store should have
  // a folder.
  std::string path;
  std::string what;  // "PATH: does not match its checksum"
};

struct StoreReport {
  int records = 0, replicas = 0, checkpoints = 0, outputs = 0, attempts = 0;  // numbers checked
  std::vector<StoreProblem> damaged;                                          // sorted by path within each kind
  std::vector<std::string> unreadable;  // what can't be read now (UnreadRecords::unreadable), which may be intact
  std::vector<std::string> strangers;   // entries whose name no result can have
  std::vector<std::string> incomplete;  // records that were made from other outputs than the stored ones
  // The titles that records give each method, by its name (MethodSpec.title). Ids don't cover them.
  std::map<std::string, std::set<std::string>> titles;
};

// Reads every byte of all records, replicas, failed attempts, checkpoints, outputs and action.textproto files, and
// compares them with their checksums. Also checks that each record's id matches its content (CheckTrialId() in
// experiments/store/records/record_id.h), and that it has the metrics of its trial (CheckMetricsOfTrial()). A record of
// another schema version counts as corrupt. A result that another process removes or replaces meanwhile does not.
// Changes nothing. Errors: kNotFound if there is no folder; kFailedPrecondition if it is not a store, or has another
// schema version; kPermissionDenied if one of the store's own folders is a link; a read error
// (core/files/system_calls.h).
absl::StatusOr<StoreReport> VerifyStore(const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_VERIFY_STORE_H_
