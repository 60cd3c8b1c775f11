// Reading an experiment and all it names.
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
  // Where its names were looked up: also in the libraries that it is of (SpecFoldersAround).
  SpecFolders folders;
  // The SHA-256 of its file; "" if it has none.
  std::string sha256 = {};
  // What the command line laid over it (SpecChanges::Texts), and the methods that it named and this left out.
  std::vector<std::string> laid_over = {};
  std::vector<std::string> left_out_methods = {};
  // The methods on tasks for which `task_preset` lays presets over them, by the places of task and method.
  std::map<std::pair<int, int>, LoadedMethod> task_methods = {};
  std::vector<PublishedTable> published = {};  // of report.published
  // If it is not empty, the trials are only those of these tasks, methods and splits.
  std::set<std::tuple<std::string, std::string, int>> only = {};

  const LoadedMethod& MethodOn(int task, int method) const {
    const auto own = task_methods.find({task, method});
    return own == task_methods.end() ? methods[method] : own->second;
  }
};

// Reads the experiment `name`: a path if it ends in ".textproto", else a name in `folders.specs`. Its methods and tasks
// are names in `folders` or in the libraries that the file is of (SpecFoldersAround), or paths relative to the file.
// Errors: kNotFound for a file that is not there, kInvalidArgument for a name (with the known ones) or a field that is
// not valid; a line each, with "FILE:LINE: path: "; those of ChangeSpec() and ChangeMethods().
absl::StatusOr<Experiment> LoadExperiment(const std::string& name, const SpecFolders& folders,
                                          const SpecChanges& changes = {});

// One task, by name, or by path relative to the folder `beside`. Errors: as LoadExperiment().
absl::StatusOr<TaskSpec> LoadTask(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                  const Catalog& catalog);

// Finds the digests of the weights that differ from split to split (experiments/spec/model_files.h), for the splits
// that the experiment has. LoadExperiment() does it. Errors: kInvalidArgument, a line a file.
absl::Status ResolveSplitWeights(Experiment* experiment);

// "FILE:LINE: path" of a field of a method: in the experiment's override if that sets it, else in the method's
// files.
std::string WhereInMethod(const Experiment& experiment, const LoadedMethod& method, const std::string& path);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_EXPERIMENT_FILE_H_
