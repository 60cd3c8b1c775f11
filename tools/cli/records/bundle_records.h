// The records in a bundle, with the specs, tasks and catalog entries that they used.
#ifndef OPENSET_TOOLS_CLI_RECORDS_BUNDLE_RECORDS_H_
#define OPENSET_TOOLS_CLI_RECORDS_BUNDLE_RECORDS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/store/record.proto.h"

namespace openset {

// The specs, tasks and catalog entries in a bundle.

// Returns the files that the records' trials name ("tasks/NAME.textproto") with their content, from the libraries. A
// spec is included only if it is the file that made a record (TrialSpec.spec_sha256). Files that are not found are left
// out, with a line in `left_out`.
std::map<std::string, std::string> LibraryOfRecords(const std::vector<TrialRecord>& records, const SpecFolders& folders,
                                                    std::vector<std::string>* left_out);

// Writes the library of a bundle below `folder` and adds it to `folders`. Errors: those of writing.
absl::Status UnpackLibrary(const std::map<std::string, std::string>& library, const std::string& folder,
                           SpecFolders* folders);

// Adds the folder of a published study, PETS/PETS.zip, as a library, because it may contain methods of the spec.
void AddOwnFolder(const std::string& bundle, SpecFolders* folders);

// If `status`, which SpecOfRecord() returned for the record, says that its task is in no library, adds how the bundle's
// owner can add the task. Otherwise returns `status`.
absl::Status WithMissingLibrary(const absl::Status& status, const std::string& bundle,
                                const std::map<std::string, std::string>& library, const TrialRecord& record);

// Reads the records of a bundle without a store.

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
