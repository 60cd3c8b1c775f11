// Whether everything in a store is as it was written.
#ifndef OPENSET_EXPERIMENTS_STORE_VERIFY_STORE_H_
#define OPENSET_EXPERIMENTS_STORE_VERIFY_STORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/store/store.h"

namespace openset {

struct StoreProblem {
  // Of the result as a whole: the record, or the folder of a checkpoint or of outputs. Or what is in the place of a
  // folder that results lie in.
  std::string path;
  std::string what;  // "PATH: does not match its checksum"
};

struct StoreReport {
  int records = 0, replicas = 0, checkpoints = 0, outputs = 0, attempts = 0;  // that were looked at
  std::vector<StoreProblem> damaged;                                          // in the order of the paths of each kind
  std::vector<std::string> strangers;   // entries with a name nothing in a store has
  std::vector<std::string> incomplete;  // records whose outputs are there and are others than those they were made of
};

// Reads every byte: each record, replica and failed attempt, each checkpoint and outputs file with its checksum, each
// action.textproto. A record is also compared with its id (CheckTrialId() in experiments/store/records/record_id.h). A
// record of another schema version counts as damaged. Nothing is changed. Errors: those of Store::CheckIsStore().
absl::StatusOr<StoreReport> VerifyStore(const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_VERIFY_STORE_H_
