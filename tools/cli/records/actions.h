// The subcommands of `openset records`. Each has its own file.
#ifndef OPENSET_TOOLS_CLI_RECORDS_ACTIONS_H_
#define OPENSET_TOOLS_CLI_RECORDS_ACTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/store/store.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// Returns the store of --store. Errors: as OpenStore() (tools/cli/flags/run_config.h); kNotFound if there is no store;
// kFailedPrecondition also for an empty folder.
absl::StatusOr<Store> ExistingStore(const RunConfig& config, StoreUse use = StoreUse::kRecords);

// The store or the bundle that an argument names: a folder, BUNDLE.zip or the folder of a published study. Errors:
// those of Store::CheckIsStore() and OpenBundle() (experiments/store/merge.h).
absl::StatusOr<Store> StoreNamed(const std::string& argument);

// `ls [QUERY]` and `show TRIAL`. Without a query: all records. An empty `trial` stands for the store's only trial.
absl::Status ListRecords(const std::optional<std::string>& query, const RunConfig& config);
absl::Status ShowRecord(const std::string& trial, const RunConfig& config);
// `diff A B`: in what two records differ (settings, data, program, metrics). `diff A`: the records of one trial, the
// first one and each other. `diff A STORE_OR_BUNDLE`: the trial's record and the one there.
absl::Status DiffRecords(const std::vector<std::string>& arguments, const RunConfig& config);
// `spec TRIAL`: prints a study that makes the trial again.
absl::Status PrintSpec(const std::string& trial, const RunConfig& config);
// `export [SPEC|QUERY]`, to --bundle; `merge STORE_OR_BUNDLE...` into --store.
absl::Status ExportRecords(const std::optional<std::string>& spec_or_query, const RunConfig& config);
absl::Status MergeRecords(const std::vector<std::string>& sources, const RunConfig& config);
absl::Status UpgradeRecords(const std::string& from, const std::string& to);
// `verify`, `gc` and `rm QUERY`. `rm` asks on a terminal; without --yes elsewhere: kInvalidArgument,
// with the number of records and the command that removes them.
absl::Status VerifyRecords(const RunConfig& config);
absl::Status CollectRecords(const RunConfig& config);
absl::Status RemoveRecords(const std::string& query, const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_ACTIONS_H_
