// Temporary files and folders that killed processes left in a store.
#ifndef OPENSET_EXPERIMENTS_STORE_PROCESSES_ORPHANS_H_
#define OPENSET_EXPERIMENTS_STORE_PROCESSES_ORPHANS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/store/store.h"

namespace openset {

// A temporary file of another process space (another machine or container) is an orphan once it is older than this.
inline constexpr absl::Duration kOldTemporary = absl::Hours(7 * 24);

// The paths, sorted, of files and folders below tmp/ and partial/ with a name from TemporaryName()
// (core/files/temporary_folder.h) whose process has ended. For another process space, openset can't tell, and uses
// kOldTemporary; `now` is the time by the clock of the store's disk (Store::Now()). Leaves out all other names, links,
// and everything below tmp/ or partial/ if that is a link. Empty if the folder is not a store. Errors: a read error
// other than kNotFound (core/files/system_calls.h).
absl::StatusOr<std::vector<std::string>> Orphans(const Store& store, absl::Time now);

// Removes them. Ignores those that can't be read or removed.
void SweepTemporaries(const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_PROCESSES_ORPHANS_H_
