// Reads and checks a study's file. A swept field gets a name and values for tables.
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
#include "absl/strings/string_view.h"
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

// ---- A swept field: sets it, and names it and its values for tables.

// Whether the axis sweeps the method of this name.
bool AppliesTo(const Axis& axis, absl::string_view method);

// Sets all fields of the axis to the value. Errors: kInvalidArgument, with the path, for a field that methods lack, or
// a value that does not fit it.
absl::Status SetAxis(const Axis& axis, const std::string& value, MethodSpec* method);

// The axis's own name, or the last part of its path.
std::string AxisName(const Axis& axis);

// Shortens a value: "{ energy {} }" and "energy {}" become "energy".
std::string AxisLabel(absl::string_view value);

// ---- Reads a study and all files that it names.

struct Experiment {
  ExperimentSpec spec;  // as written
  TextSource source;
  std::vector<TaskSpec> tasks;
  std::vector<LoadedMethod> methods;
  Catalog catalog;
  // The folders in which its names were looked up, including the libraries around its file (SpecFoldersAround).
  SpecFolders folders;
  // The SHA-256 of its file; "" if it has none.
  std::string sha256 = {};
  // The flags that changed it (SpecChanges::Texts), and the methods in the file that they left out.
  std::vector<std::string> overrides = {};
  std::vector<std::string> left_out_methods = {};
  std::vector<std::string> tags = {};  // of the records that its run makes (--tag)
  // The methods that `task_preset` changes by presets for some tasks, by the indices of task and method.
  std::map<std::pair<int, int>, LoadedMethod> task_methods = {};
  std::vector<PublishedTable> published = {};  // of report.published
  // The files of its tasks in whose place those of SpecFolders.carried_tasks are used, because they differ.
  std::vector<std::string> replaced_tasks = {};
  // The hints of ReadTask() (data/task.h) on its tasks.
  std::vector<std::string> task_hints = {};
  // If it is not empty, the trials are only of these tasks, methods and splits.
  std::set<std::tuple<std::string, std::string, int>> only = {};

  const LoadedMethod& MethodOn(int task, int method) const {
    const auto own = task_methods.find({task, method});
    return own == task_methods.end() ? methods[method] : own->second;
  }
};

// Reads the study `name`: a path if it ends in ".textproto", otherwise a name in `folders.specs`. Its methods and tasks
// are names in `folders` or in the libraries around the file (SpecFoldersAround), or paths relative to the file.
// Errors: a read error (core/files/system_calls.h), of which kNotFound names a missing file; kInvalidArgument for an
// unknown name (with the known ones) or an invalid field, one on each line, with "FILE:LINE: path: ", or for a change
// that does not fit, with its flag.
absl::StatusOr<Experiment> LoadExperiment(const std::string& name, const SpecFolders& folders,
                                          const SpecChanges& changes = {});

// Reads one task, by its name or by a path relative to the folder `beside`, with the hints of ReadTask(). Errors: as
// LoadExperiment().
absl::StatusOr<TaskSpec> LoadTask(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                  const Catalog& catalog, std::vector<std::string>* hints = nullptr);

// Finds the digests of weights that differ between splits (experiments/spec/model_files.h), for the splits of the
// study. LoadExperiment() calls it. Errors: kInvalidArgument, with a line for each file.
absl::Status ResolveSplitWeights(Experiment* experiment);

// "FILE:LINE: path" of a field of a method: in the study's override if that sets it, otherwise in the method's files.
std::string WhereInMethod(const Experiment& experiment, const LoadedMethod& method, const std::string& path);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_EXPERIMENT_FILE_H_
