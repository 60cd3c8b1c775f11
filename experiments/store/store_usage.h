// What the studies of a store have there, and how much room it takes.
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

struct StudyUsage {
  std::string name;  // of the study that first made the records (TrialSpec.experiment)
  int64_t records = 0;
  std::set<std::string> users;  // who made them: names, "" left out
  double last_seconds = 0;      // when the newest was complete, since 1970, UTC; 0: not known
  // Of its records and of the checkpoints and outputs that these name. What studies share counts for each of them.
  int64_t bytes = 0;
};

// By name. Records that can't be read go to `unread`.
std::vector<StudyUsage> UsageByStudy(const Store& store, UnreadRecords* unread);

// The bytes below each folder of the store that has some, largest first: "checkpoints", "outputs" ...
std::vector<std::pair<std::string, int64_t>> UsageByKind(const Store& store);

// The sum of those.
int64_t BytesOfStore(const Store& store);

// "3.4 GB".
std::string BytesText(int64_t bytes);

// The bytes of "200GB", "1.5 TB", "500 MB", "20 kB" or "4096": powers of 1000, as BytesText() has them. Errors:
// kInvalidArgument for anything else, and for more than 10^18.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_STORE_USAGE_H_
