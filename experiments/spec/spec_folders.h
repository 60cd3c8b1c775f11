// Finds the files that specs name, in libraries.
//
// A library is a folder with any of
//   specs/    NAME.textproto: ExperimentSpec
//   methods/  MethodSpec
//   presets/  MethodSpec, in parts
//   tasks/    TaskSpec
//   catalog/  DataSetInfo
//   published/  PublishedTable
// Each may also have the path that it has in the source tree: experiments/specs, experiments/methods,
// experiments/presets, data/tasks, data/catalog, experiments/published.
#ifndef OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_
#define OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// Folders in which names are looked up. Their order doesn't matter: two different files with the same name are an
// error.
struct SpecFolders {
  std::vector<std::string> specs;
  std::vector<std::string> methods;
  std::vector<std::string> presets;
  std::vector<std::string> tasks;
  std::vector<std::string> catalog;
  std::vector<std::string> published;
  // Tasks that were exported with a study's records. If a spec names a task by a path that doesn't exist, the task with
  // this file name is used. These tasks are not among the names of the libraries.
  std::vector<std::string> carried_tasks;

  bool empty() const {
    return specs.empty() && methods.empty() && presets.empty() && tasks.empty() && catalog.empty() && published.empty();
  }
};

// Returns the existing folders of the library `root`.
SpecFolders SpecFoldersBelow(const std::string& root);

// Returns the folders of the libraries that contain a spec in the folder `beside`: that folder and, if its name is
// "specs", its parent. (Not those of experiments/specs, whose files are built into the program.)
SpecFolders SpecFoldersAround(const std::string& beside);

// Adds the folders of another library that `folders` doesn't have yet.
void AddSpecFolders(const SpecFolders& more, SpecFolders* folders);

// Returns the names in these folders, sorted. Files without a valid name (core/text/name.h) are left out; a line about
// each is added to `left_out`.
std::vector<std::string> NamesIn(const std::vector<std::string>& folders, std::vector<std::string>* left_out = nullptr);

// Returns the file of `name`: if it ends in ".textproto", the path relative to the folder `beside`; otherwise
// NAME.textproto in one of `folders`. Files with the same bytes count as the same file. Errors: kNotFound for a path
// that doesn't exist; kInvalidArgument for an unknown name ("unknown KIND", with the known names), and for a name of
// two different files (with both).
absl::StatusOr<std::string> FindSpecFile(absl::string_view kind, const std::string& name,
                                         const std::vector<std::string>& folders, const std::string& beside);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_
