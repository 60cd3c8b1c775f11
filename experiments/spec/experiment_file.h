// Reads a study and all files that it names.
#ifndef OPENSET_EXPERIMENTS_SPEC_EXPERIMENT_FILE_H_
#define OPENSET_EXPERIMENTS_SPEC_EXPERIMENT_FILE_H_

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/proto/text_proto.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/published/published.pb.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/resolve/resolve_method.h"
#include "experiments/spec/spec_changes.h"
#include "experiments/spec/spec_folders.h"

namespace openset {

struct Experiment {
  ExperimentSpec spec;  // as written
  TextSource source;
  std::vector<TaskSpec> tasks;
  std::vector<LoadedMethod> methods;
  Catalog catalog;
  // Where its names were looked up, including the libraries that contain its file (SpecFoldersAround).
  SpecFolders folders;
  // The SHA-256 of its file; "" if it has no file.
  std::string sha256 = {};
  // The changes by the command line (SpecChanges::Texts), and the methods of the spec that it left out.
  std::vector<std::string> laid_over = {};
  std::vector<std::string> left_out_methods = {};
  // The methods changed by `task_preset`, by the indices of task and method.
  std::map<std::pair<int, int>, LoadedMethod> task_methods = {};
  std::vector<PublishedTable> published = {};  // the files of report.published
  // If not empty, only the trials of these tasks, methods and splits are made.
  std::set<std::tuple<std::string, std::string, int>> only = {};

  const LoadedMethod& MethodOn(int task, int method) const {
    const auto own = task_methods.find({task, method});
    return own == task_methods.end() ? methods[method] : own->second;
  }
};

// Reads the experiment `name`: a path if it ends in ".textproto", otherwise a name in `folders.specs`. Its methods and
// tasks are names in `folders` or in the libraries that contain the file (SpecFoldersAround), or paths relative to the
// file. Errors: kNotFound for a missing file; kInvalidArgument for an unknown name (lists the known ones) or an invalid
// field; one line per problem, starting with "FILE:LINE: path: "; those of ChangeSpec() and ChangeMethods().
absl::StatusOr<Experiment> LoadExperiment(const std::string& name, const SpecFolders& folders,
                                          const SpecChanges& changes = {});

// Reads one task, by name, or by path relative to the folder `beside`. Errors: as LoadExperiment().
absl::StatusOr<TaskSpec> LoadTask(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                  const Catalog& catalog);

// Finds the digests of weights that differ between splits (experiments/spec/model_files.h), for the splits of the
// study. LoadExperiment() calls it. Errors: kInvalidArgument, one line per file.
absl::Status ResolveSplitWeights(Experiment* experiment);

// Returns "FILE:LINE: path" of a field of a method: in the study's override if that sets the field, otherwise in the
// method's files.
std::string WhereInMethod(const Experiment& experiment, const LoadedMethod& method, const std::string& path);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_EXPERIMENT_FILE_H_
