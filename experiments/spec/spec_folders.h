// Libraries: folders in which the names in specs are looked up. They have equal rank.
//
// A library is a folder with any of
//   specs/    NAME.textproto: ExperimentSpec
//   methods/  MethodSpec
//   presets/  MethodSpec, in parts
//   tasks/    TaskSpec
//   catalog/  DataSetInfo
//   published/  PublishedTable
// Each may also be where the source tree has it: experiments/specs, experiments/methods, experiments/presets,
// data/tasks, data/catalog, experiments/published.
#ifndef OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_
#define OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// Folders in which names are looked up. None takes precedence: two different files of one name are an error.
struct SpecFolders {
  std::vector<std::string> specs;
  std::vector<std::string> methods;
  std::vector<std::string> presets;
  std::vector<std::string> tasks;
  std::vector<std::string> catalog;
  std::vector<std::string> published;
  // Tasks that came with a study's records. A task that a spec names, also by a path, is taken from here if it is
  // there: the records were made with it, and the file of that name may have changed since. These are not names of the
  // libraries.
  std::vector<std::string> carried_tasks;

  bool empty() const {
    return specs.empty() && methods.empty() && presets.empty() && tasks.empty() && catalog.empty() && published.empty();
  }
};

// Returns the folders that the library `root` has.
SpecFolders SpecFoldersBelow(const std::string& root);

// Returns the folders of the libraries around a spec in the folder `beside`: of that folder and, if its name is
// "specs", of its parent. (Not of experiments/specs, because the program contains these folders as they were when it
// was built.)
SpecFolders SpecFoldersAround(const std::string& beside);

// Adds the folders of another library that `folders` doesn't have yet.
void AddSpecFolders(const SpecFolders& more, SpecFolders* folders);

// If `task` is a path, TASK.textproto, adds the library that it is in: its folder or, if that is called tasks, its
// parent. (Not data/tasks of the sources, for the same reason.)
void AddLibraryOfTask(const std::string& task, SpecFolders* folders);

// Returns the names in these folders, sorted. Leaves out files with invalid names (core/text/name.h) and adds a line
// about each to `left_out`.
std::vector<std::string> NamesIn(const std::vector<std::string>& folders, std::vector<std::string>* left_out = nullptr);

// Returns the file of `name`: a path, relative to the folder `beside`, if it ends in ".textproto", otherwise
// NAME.textproto in one of `folders`. Files with equal content count as the same file. Errors: kNotFound for a path
// that doesn't exist; kInvalidArgument for an unknown name ("unknown KIND", with the known ones), and for a name of two
// different files, with both.
absl::StatusOr<std::string> FindSpecFile(absl::string_view kind, const std::string& name,
                                         const std::vector<std::string>& folders, const std::string& beside);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_
