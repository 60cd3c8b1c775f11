// A published study is a folder that contains NAME/NAME.textproto, its spec, and NAME/NAME.zip, a bundle of its
// records.
#ifndef OPENSET_TOOLS_CLI_FLAGS_STUDY_FOLDER_H_
#define OPENSET_TOOLS_CLI_FLAGS_STUDY_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/spec_folders.h"

namespace openset {

// If `argument` is such a folder, returns the path of its spec; otherwise returns `argument`. Copies the bundle's
// records to a temporary store, which --store then names and which is removed when the process exits. Without a bundle,
// --store is unchanged. Errors: kInvalidArgument if --store is given too; kAborted if the bundle has corrupt records;
// those of MergeFrom() (experiments/store/merge.h).
absl::StatusOr<std::string> SpecOfStudyFolder(const std::string& argument);

// Adds the tasks and catalog entries that the bundle contains and `folders` lack, so that a study's folder can be
// copied alone. Errors: those of writing them.
absl::Status AddCarriedLibrary(SpecFolders* folders);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_STUDY_FOLDER_H_
