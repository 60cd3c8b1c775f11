// Reads the records of a bundle without a store.
#ifndef OPENSET_TOOLS_CLI_RECORDS_BUNDLE_RECORDS_H_
#define OPENSET_TOOLS_CLI_RECORDS_BUNDLE_RECORDS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Whether an argument of a command names a bundle: it ends in ".zip".
bool IsBundle(const std::string& argument);

// If `argument` is the folder of a published study with a bundle (study_folder.h), such as "results/pets", returns the
// bundle, "results/pets/pets.zip". Otherwise returns `argument`.
std::string BundleOfFolder(const std::string& argument);

struct BundleRecords {
  std::string digest;                          // the bundle's
  std::vector<TrialRecord> records;            // the oldest of each trial, in the order of their ids
  int replicas = 0;                            // the number of further ones
  std::map<std::string, std::string> library;  // "tasks/NAME.textproto" and its content
  std::vector<std::string> refused;            // a line for each record whose id or content is inconsistent
};

// Errors: those of ReadBundle() (experiments/store/bundle.h).
absl::StatusOr<BundleRecords> ReadBundleRecords(const std::string& path);

// Returns the record whose id starts with `beginning`. Errors: kNotFound if there is none and kInvalidArgument if there
// are several, with the command that lists them.
absl::StatusOr<TrialRecord> TrialOfBundle(const BundleRecords& read, const std::string& bundle,
                                          const std::string& beginning);

// Returns kAborted with the lines of `refused` if there are any.
absl::Status RefusedStatus(const BundleRecords& bundle);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_BUNDLE_RECORDS_H_
