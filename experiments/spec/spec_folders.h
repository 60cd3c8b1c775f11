// Where what specs name is found: in libraries, which stand beside each other.
//
// A library is a folder with any of
//   specs/    NAME.textproto: ExperimentSpec
//   methods/  MethodSpec
//   presets/  MethodSpec, in parts
//   tasks/    TaskSpec
//   catalog/  DataSetInfo
//   published/  PublishedTable
// Each may also stand where the source tree has it: experiments/specs, experiments/methods, experiments/presets,
// data/tasks, data/catalog, experiments/published.
#ifndef OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_
#define OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// Folders in which names are looked up. None is before another: two different files of one name are an error.
struct SpecFolders {
  std::vector<std::string> specs;
  std::vector<std::string> methods;
  std::vector<std::string> presets;
  std::vector<std::string> tasks;
  std::vector<std::string> catalog;
  std::vector<std::string> published;
  // Tasks that came along with a study's records: a task that a spec names by a path at which nothing is, is the one of
  // that file's name here. Not among the libraries' names.
  std::vector<std::string> carried_tasks;

  bool empty() const {
    return specs.empty() && methods.empty() && presets.empty() && tasks.empty() && catalog.empty() && published.empty();
  }
};

// Those of the library `root` that are there.
SpecFolders SpecFoldersBelow(const std::string& root);

// Those of the libraries that a spec in the folder `beside` is of: that folder and, if it is called "specs", the one
// that it lies in. (Not of experiments/specs, which the program brings with it as it was built.)
SpecFolders SpecFoldersAround(const std::string& beside);

// Adds the folders of another library; those that are among `folders` already are left out.
void AddSpecFolders(const SpecFolders& more, SpecFolders* folders);

// The names in these folders, sorted. A file whose name is none (core/text/name.h) is left out; `left_out` gets a line
// of it.
std::vector<std::string> NamesIn(const std::vector<std::string>& folders, std::vector<std::string>* left_out = nullptr);

// The file of `name`: a path, relative to the folder `beside`, if it ends in ".textproto", else NAME.textproto in one
// of `folders`. Files of the same bytes are the same file. Errors: kNotFound for a path that is not there;
// kInvalidArgument for another name, with the known ones: "unknown KIND"; for a name of two different files, with both.
absl::StatusOr<std::string> FindSpecFile(absl::string_view kind, const std::string& name,
                                         const std::vector<std::string>& folders, const std::string& beside);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_SPEC_FOLDERS_H_
