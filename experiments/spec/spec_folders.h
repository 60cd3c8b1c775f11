// Where what specs name is found.
#ifndef OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_
#define OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// Folders in which names are looked up.
struct SpecFolders {
  std::string specs;    // NAME.textproto: ExperimentSpec
  std::string methods;  // MethodSpec
  std::string presets;  // MethodSpec, in parts
  std::string tasks;    // TaskSpec
  std::string catalog;  // DataSetInfo
};

// The folders below `root`, the top of the source tree or of a program's runfiles.
SpecFolders SpecFoldersBelow(const std::string& root);

// The names in one of these folders, sorted.
std::vector<std::string> NamesIn(const std::string& folder);

// The file of `name`: a path, relative to the folder `beside`, if it ends in ".textproto", else NAME.textproto in
// `folder`.
// Errors: kNotFound for a path that is not there; kInvalidArgument for another name, with the known ones: "unknown
// KIND".
absl::StatusOr<std::string> FindSpecFile(absl::string_view kind, const std::string& name, const std::string& folder,
                                         const std::string& beside);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_
