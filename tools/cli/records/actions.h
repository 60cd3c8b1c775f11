// The actions of `openset records`, each in a file of its own.
#ifndef OPENSET_TOOLS_CLI_RECORDS_ACTIONS_H_
#define OPENSET_TOOLS_CLI_RECORDS_ACTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/store/store.h"

namespace openset {

// Of --store. Errors: those of Store::CheckIsStore().
absl::StatusOr<Store> ExistingStore();

// `ls [QUERY]` and `show TRIAL`.
absl::Status ListRecords(const std::string& query);
absl::Status ShowRecord(const std::string& trial);
// `export [QUERY]`, to --bundle; `merge STORE_OR_BUNDLE...` into --store.
absl::Status ExportRecords(const std::string& query);
absl::Status MergeRecords(const std::vector<std::string>& sources);
// `verify` and `gc`.
absl::Status VerifyRecords();
absl::Status CollectRecords();

// "3.4 GB".
std::string BytesText(int64_t bytes);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_ACTIONS_H_
