// The specs, tasks and catalog entries that a bundle carries.
#ifndef OPENSET_TOOLS_CLI_RECORDS_BUNDLE_LIBRARY_H_
#define OPENSET_TOOLS_CLI_RECORDS_BUNDLE_LIBRARY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/store/record.proto.h"

namespace openset {

// "tasks/NAME.textproto" and its content: what the records' trials name, as the libraries have it now. A spec counts
// only where it is the very file that made a record (TrialSpec.spec_sha256). What is not found is left out, with a
// line in `left_out`.
std::map<std::string, std::string> LibraryOfRecords(const std::vector<TrialRecord>& records, const SpecFolders& folders,
                                                    std::vector<std::string>* left_out);

// Writes a library that a bundle carries below `folder`, and adds it to `folders`. Errors: those of writing.
absl::Status UnpackLibrary(const std::map<std::string, std::string>& library, const std::string& folder,
                           SpecFolders* folders);

// Adds the folder of a published study, PETS/PETS.zip, as a library: methods that the spec has beside it are there.
void AddOwnFolder(const std::string& bundle, SpecFolders* folders);

// With how its owner adds the task to a bundle that lacks it, where `status`, which SpecOfRecord() gave of the record,
// is that it is in no library; else as it is.
absl::Status WithMissingLibrary(const absl::Status& status, const std::string& bundle,
                                const std::map<std::string, std::string>& library, const TrialRecord& record);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_BUNDLE_LIBRARY_H_
