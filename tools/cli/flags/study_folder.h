// A study that is published as a folder: NAME/NAME.textproto, its spec, and NAME/NAME.zip, a bundle of its records.
#ifndef OPENSET_TOOLS_CLI_FLAGS_STUDY_FOLDER_H_
#define OPENSET_TOOLS_CLI_FLAGS_STUDY_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/spec_folders.h"

namespace openset {

// The path of the spec, where `argument` is such a folder; any other argument as it is. The bundle's records are put
// into a temporary store, which is --store from then on and is removed when the process exits; without a bundle,
// --store stays. Errors: kInvalidArgument where --store is given too; kAborted for a bundle with damaged records; those
// of MergeFrom() (experiments/store/merge.h).
absl::StatusOr<std::string> SpecOfStudyFolder(const std::string& argument);

// Adds the tasks and the catalog entries that this bundle carries and `folders` lack, so that a folder can be copied
// without what its spec names beside it. Errors: those of writing them.
absl::Status AddCarriedLibrary(SpecFolders* folders);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_STUDY_FOLDER_H_
