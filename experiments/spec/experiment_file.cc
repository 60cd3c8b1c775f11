#include "experiments/spec/experiment_file.h"

#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"
#include "data/splits/class_splits.h"
#include "data/task.h"
#include "experiments/spec/model_files.h"

namespace openset {

absl::StatusOr<TaskSpec> LoadTask(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                  const Catalog& catalog) {
  OPENSET_ASSIGN_OR_RETURN(const std::string path, FindSpecFile("task", name, folders.tasks, beside));
  return ReadTask(path, catalog);
}

absl::StatusOr<Experiment> LoadExperiment(const std::string& name, const SpecFolders& given) {
  OPENSET_ASSIGN_OR_RETURN(const std::string path, FindSpecFile("experiment", name, given.specs, ""));
  const std::string beside = std::filesystem::path(path).parent_path().string();
  SpecFolders folders = given;
  AddSpecFolders(SpecFoldersBelow(beside.empty() ? "." : beside), &folders);
  ExperimentSpec spec;
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadTextProto(path, &spec));
  OPENSET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Open(folders.catalog));
  Experiment experiment{spec, std::move(source), {}, {}, std::move(catalog), folders};
  MethodSpec override = spec.override();
  OPENSET_RETURN_IF_ERROR(ResolveMethodFiles(path, "override.", experiment.source, &override));
  for (int i = 0; i < spec.task_size(); ++i) {
    const std::string where = experiment.source.Where(absl::StrCat("task[", i, "]"));
    absl::StatusOr<std::string> file = FindSpecFile("task", spec.task(i), folders.tasks, beside);
    if (!file.ok()) return Annotate(file.status(), where);
    OPENSET_ASSIGN_OR_RETURN(TaskSpec task, ReadTask(*file, experiment.catalog));
    experiment.tasks.push_back(std::move(task));
  }
  for (int i = 0; i < spec.method_size(); ++i) {
    const std::string where = experiment.source.Where(absl::StrCat("method[", i, "]"));
    const absl::StatusOr<MethodFiles> files = FindMethodFiles(spec.method(i), folders, beside);
    if (!files.ok()) return Annotate(files.status(), where);
    OPENSET_ASSIGN_OR_RETURN(LoadedMethod method, ReadMethod(*files, folders, override));
    experiment.methods.push_back(std::move(method));
  }
  OPENSET_RETURN_IF_ERROR(ResolveSplitWeights(&experiment));
  return experiment;
}

absl::Status ResolveSplitWeights(Experiment* experiment) {
  std::set<int> splits(experiment->spec.split().begin(), experiment->spec.split().end());
  if (splits.empty()) {
    for (const TaskSpec& task : experiment->tasks) {
      for (int s = 0; s < CountSplits(task); ++s) splits.insert(s);
    }
  }
  std::vector<std::string> lines;
  for (LoadedMethod& method : experiment->methods) {
    if (!IsOfSplit(method.spec.model())) continue;
    for (const FieldProblem& problem : ResolveSplitFiles({splits.begin(), splits.end()}, method.spec.mutable_model())) {
      lines.push_back(absl::StrCat(WhereInMethod(*experiment, method, problem.path), ": ", problem.message));
    }
  }
  return lines.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

std::string WhereInMethod(const Experiment& experiment, const LoadedMethod& method, const std::string& path) {
  const std::string overridden = PlaceInLayer(method, path, experiment.spec.override());
  if (!overridden.empty()) return experiment.source.Where(absl::StrCat("override.", overridden));
  return WhereInLayers(method, path);
}

}  // namespace openset
