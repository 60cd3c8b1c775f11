// Temporary files and folders that killed processes left in a store.
#ifndef OPENSET_EXPERIMENTS_STORE_PROCESSES_ORPHANS_H_
#define OPENSET_EXPERIMENTS_STORE_PROCESSES_ORPHANS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "experiments/store/store.h"

namespace openset {

// A temporary of another process space, as another machine or container is, belongs to nobody once it is older.
inline constexpr absl::Duration kOldTemporary = absl::Hours(7 * 24);

// Paths, sorted, of the files and folders under tmp/ and partial/ whose names TemporaryName() gave
// (core/files/temporary_name.h), and whose process is gone: one of this process space that does not run; of any other
// space, after kOldTemporary. Whatever has another name stays, as do links, and what lies where tmp/ or partial/ is a
// link. Empty for a folder that is no store.
std::vector<std::string> Orphans(const Store& store);

// Removes them. What can't be removed stays.
void SweepTemporaries(const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_PROCESSES_ORPHANS_H_
