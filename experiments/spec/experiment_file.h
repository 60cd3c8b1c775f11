// Reading an experiment and all it names.
#ifndef OPENSET_EXPERIMENTS_SPEC_EXPERIMENT_FILE_H_
#define OPENSET_EXPERIMENTS_SPEC_EXPERIMENT_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/proto/text_proto.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/spec/experiment.pb.h"
#include "experiments/spec/method.pb.h"

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

struct LoadedPreset {
  MethodSpec spec;
  TextSource source;
};

// A method with its presets and the experiment's override laid over it.
struct LoadedMethod {
  MethodSpec spec;  // defaults are not filled in
  TextSource source;
  std::vector<LoadedPreset> presets;  // in the order in which they were laid over
};

struct Experiment {
  ExperimentSpec spec;  // as written
  TextSource source;
  std::vector<TaskSpec> tasks;
  std::vector<LoadedMethod> methods;
  Catalog catalog;
};

// Reads the experiment `name`: a path if it ends in ".textproto", else a name in `folders.specs`. Its methods and tasks
// are names, or paths relative to the experiment's file.
// Errors: kNotFound for a file that is not there, kInvalidArgument for a name (with the known ones) or a field that is
// not valid; a line each, with "FILE:LINE: path: ".
absl::StatusOr<Experiment> LoadExperiment(const std::string& name, const SpecFolders& folders);

// The names of the methods in `folders.methods`, sorted.
std::vector<std::string> MethodNames(const SpecFolders& folders);

// One method or task, by name, or by path relative to the folder `beside`; the files that the method's model names are
// relative to the method's. `override`, whose own files are found already, is laid over the method.
// Errors: as LoadExperiment().
absl::StatusOr<LoadedMethod> LoadMethod(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                        const MethodSpec& override = {});
absl::StatusOr<TaskSpec> LoadTask(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                  const Catalog& catalog);

// "FILE:LINE: path" of a field of a method: in the experiment's override if that sets it, else in the method's file.
std::string WhereInMethod(const Experiment& experiment, const LoadedMethod& method, const std::string& path);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_EXPERIMENT_FILE_H_
