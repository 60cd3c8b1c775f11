// Makes a store of the present schema version from one of version 2.
//
// In version 2 an action contained the actions whose results it read, and its key was the digest of all of them. Here
// an action names its inputs by their keys (experiments/spec/action.proto), so the same action has another key. Nothing
// else differs: records, checkpoints and outputs say everything that their new keys cover, and keep every number.
#ifndef OPENSET_EXPERIMENTS_STORE_UPGRADE_H_
#define OPENSET_EXPERIMENTS_STORE_UPGRADE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/store/bundle.h"
#include "experiments/store/merge.h"
#include "experiments/store/store.h"

namespace openset {

// The schema version that can be upgraded.
inline constexpr int kUpgradedVersion = 2;

struct UpgradeCounts {
  MergeCounts merged;                 // records
  int checkpoints = 0, outputs = 0;   // new ones
  std::vector<std::string> left_out;  // "PATH: ...": corrupt, or made by another revision of a component
};

// Adds the records, checkpoints and outputs of `from` to `to`, which may exist: what it has stays, so a call that was
// interrupted can be repeated. `from` stays as it is; large files are linked if both lie on one disk, otherwise copied.
// A record that other revisions of its components made keeps its id, which nobody else can compute; the checkpoints and
// outputs of such trials are left out. Failed attempts, logs, and states to continue from are not carried over. Errors:
// kNotFound if there is no folder `from`; kFailedPrecondition if `from` is no store of kUpgradedVersion or `to` is a
// store of another schema version than kSchemaVersion; kDataLoss if something other than a folder is where `from` has
// replicas; a read failure (IsReadFailure() in experiments/store/store.h) if a part of `from` can't be read now; a
// write error (core/files/files.h).
absl::StatusOr<UpgradeCounts> UpgradeStore(const Store& from, const Store& to);

// The same from a bundle to a new bundle, with everything that it contains. Errors: kNotFound if there is no file
// `from`; kDataLoss if it is no bundle, corrupt, or has no record that can be upgraded; kFailedPrecondition for another
// schema version than kUpgradedVersion; kInvalidArgument if no file can have the path `to`, or the new bundle would
// exceed a limit; a read failure; a write error.
absl::StatusOr<UpgradeCounts> UpgradeBundle(const std::string& from, const std::string& to, BundleWritten* written);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_UPGRADE_H_
