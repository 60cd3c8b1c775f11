// The disk usage of a store, by study and by kind of file.
#ifndef OPENSET_EXPERIMENTS_STORE_STORE_USAGE_H_
#define OPENSET_EXPERIMENTS_STORE_STORE_USAGE_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"

namespace openset {

// Which files count.
enum class BytesOf {
  kAll,
  kFreed,  // those whose space removing them frees: without files that have another hard link
};

// The size of a file, or of all files below a folder. Links count 0, as does everything that is gone. Errors: those of
// IsReadFailure() (experiments/store/store.h).
absl::StatusOr<int64_t> BytesBelow(const std::string& path, BytesOf of = BytesOf::kAll);

struct StudyUsage {
  std::string name;  // of the study that first made the records (TrialSpec.experiment)
  int64_t records = 0;
  std::set<std::string> users;  // the users who made them; without ""
  double last_seconds = 0;      // completion of the newest, in seconds since 1970 UTC; 0: unknown
  // The size of its records and of their checkpoints and outputs. Files that several studies share count for each.
  int64_t bytes = 0;
};

// Sorted by name. What can't be read goes to `unread`.
std::vector<StudyUsage> UsageByStudy(const Store& store, UnreadRecords* unread);

// The size of each folder of the store ("checkpoints", "outputs" ...), largest first, without empty ones. Folders in
// which something can't be read go to `unread`.
std::vector<std::pair<std::string, int64_t>> UsageByKind(const Store& store, UnreadRecords* unread);

// The sum of these sizes. Errors: those of IsReadFailure() (experiments/store/store.h).
absl::StatusOr<int64_t> BytesOfStore(const Store& store);

// "3.4 GB".
std::string BytesText(int64_t bytes);

// Parses "200GB", "1.5 TB", "500 MB", "20 kB" or "4096". Units are powers of 1000, as in BytesText(). Errors:
// kInvalidArgument for any other text and for more than 10^18 bytes.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_STORE_USAGE_H_
