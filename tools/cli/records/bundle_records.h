// The records of a bundle, read without a store.
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

// "results/pets/pets.zip" for the folder "results/pets" of a published study that has it (study_folder.h); any other
// argument as it is.
std::string BundleOfFolder(const std::string& argument);

struct BundleRecords {
  std::string digest;                          // the bundle's
  std::vector<TrialRecord> records;            // the first made of each trial, in the order of their ids
  int replicas = 0;                            // further ones
  std::map<std::string, std::string> library;  // "tasks/NAME.textproto" and its content
  std::vector<std::string> refused;            // what can't be what it says: a line each
};

// Errors: those of ReadBundle() (experiments/store/bundle.h).
absl::StatusOr<BundleRecords> ReadBundleRecords(const std::string& path);

// The one whose id begins so. Errors: kNotFound and kInvalidArgument for none and for several, with how they are
// listed.
absl::StatusOr<TrialRecord> TrialOfBundle(const BundleRecords& read, const std::string& bundle,
                                          const std::string& beginning);

// kAborted with the lines of `refused`, if there are some.
absl::Status RefusedStatus(const BundleRecords& bundle);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_BUNDLE_RECORDS_H_
