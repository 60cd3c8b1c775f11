#include "experiments/spec/experiment_file.h"

#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/proto/field_path.h"
#include "core/proto/overlay.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "data/task.h"
#include "experiments/spec/model_files.h"

namespace openset {
namespace {

constexpr char kEnding[] = ".textproto";

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& file : ListFolder(folder).value_or(std::vector<std::string>{})) {
    if (absl::EndsWith(file, kEnding)) names.emplace_back(absl::StripSuffix(file, kEnding));
  }
  return names;
}

// The file of `name`: a path, relative to `beside`, if it ends in ".textproto", else NAME.textproto in `folder`.
absl::StatusOr<std::string> FindFile(absl::string_view kind, const std::string& name, const std::string& folder,
                                     const std::string& beside) {
  if (absl::EndsWith(name, kEnding)) {
    const std::string path = JoinPath(beside, name);
    if (FileExists(path)) return path;
    return absl::NotFoundError(absl::StrCat("no such file: ", path));
  }
  const std::string path = JoinPath(folder, absl::StrCat(name, kEnding));
  if (!name.empty() && FileExists(path)) return path;
  return absl::InvalidArgumentError(UnknownName(kind, name, NamesIn(folder)));
}

// Looks up the files that the method's model names. The method stands in the file `path`, below the field `prefix`.
absl::Status ResolveFiles(const std::string& path, const std::string& prefix, const TextSource& source,
                          MethodSpec* method) {
  if (!method->has_model()) return absl::OkStatus();
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::vector<std::string> lines;
  for (const FieldProblem& problem : ResolveModelFiles(folder, method->mutable_model())) {
    lines.push_back(absl::StrCat(source.Where(absl::StrCat(prefix, problem.path)), ": ", problem.message));
  }
  return lines.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

struct MethodFiles {
  std::string method;
  std::vector<std::string> presets;
};

// `name` is that of a method, with those of presets behind a '+' each.
absl::StatusOr<MethodFiles> FindMethodFiles(const std::string& name, const SpecFolders& folders,
                                            const std::string& beside) {
  const std::vector<std::string> parts = absl::StrSplit(name, '+');
  MethodFiles files;
  OPENSET_ASSIGN_OR_RETURN(files.method, FindFile("method", parts[0], folders.methods, beside));
  for (size_t p = 1; p < parts.size(); ++p) {
    OPENSET_ASSIGN_OR_RETURN(files.presets.emplace_back(), FindFile("preset", parts[p], folders.presets, beside));
  }
  return files;
}

absl::StatusOr<LoadedMethod> ReadMethod(const MethodFiles& files, MethodSpec override) {
  const auto stem = [](const std::string& path) { return std::filesystem::path(path).stem().string(); };
  MethodSpec spec;
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadTextProto(files.method, &spec, Completeness::kPartial));
  OPENSET_RETURN_IF_ERROR(ResolveFiles(files.method, "", source, &spec));
  if (!spec.has_name()) spec.set_name(stem(files.method));
  std::string name = spec.name();
  std::vector<LoadedPreset> presets;
  for (const std::string& path : files.presets) {
    MethodSpec preset;
    OPENSET_ASSIGN_OR_RETURN(TextSource preset_source, ReadTextProto(path, &preset, Completeness::kPartial));
    OPENSET_RETURN_IF_ERROR(ResolveFiles(path, "", preset_source, &preset));
    Overlay(preset, &spec);
    absl::StrAppend(&name, "+", stem(path));
    presets.push_back({std::move(preset), std::move(preset_source)});
  }
  if (!spec.has_pretraining()) override.clear_pretraining();
  Overlay(override, &spec);
  spec.set_name(name);
  return LoadedMethod{std::move(spec), std::move(source), std::move(presets)};
}

}  // namespace

SpecFolders SpecFoldersBelow(const std::string& root) {
  return {JoinPath(root, "experiments/specs"), JoinPath(root, "experiments/methods"),
          JoinPath(root, "experiments/presets"), JoinPath(root, "data/tasks"), JoinPath(root, "data/catalog")};
}

std::vector<std::string> MethodNames(const SpecFolders& folders) { return NamesIn(folders.methods); }

absl::StatusOr<LoadedMethod> LoadMethod(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                        const MethodSpec& override) {
  OPENSET_ASSIGN_OR_RETURN(const MethodFiles files, FindMethodFiles(name, folders, beside));
  return ReadMethod(files, override);
}

absl::StatusOr<TaskSpec> LoadTask(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                  const Catalog& catalog) {
  OPENSET_ASSIGN_OR_RETURN(const std::string path, FindFile("task", name, folders.tasks, beside));
  return ReadTask(path, catalog);
}

absl::StatusOr<Experiment> LoadExperiment(const std::string& name, const SpecFolders& folders) {
  OPENSET_ASSIGN_OR_RETURN(const std::string path, FindFile("experiment", name, folders.specs, ""));
  const std::string beside = std::filesystem::path(path).parent_path().string();
  ExperimentSpec spec;
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadTextProto(path, &spec));
  OPENSET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Open(folders.catalog));
  Experiment experiment{spec, std::move(source), {}, {}, std::move(catalog)};
  MethodSpec override = spec.override();
  OPENSET_RETURN_IF_ERROR(ResolveFiles(path, "override.", experiment.source, &override));
  for (int i = 0; i < spec.task_size(); ++i) {
    const std::string where = experiment.source.Where(absl::StrCat("task[", i, "]"));
    absl::StatusOr<std::string> file = FindFile("task", spec.task(i), folders.tasks, beside);
    if (!file.ok()) return Annotate(file.status(), where);
    OPENSET_ASSIGN_OR_RETURN(TaskSpec task, ReadTask(*file, experiment.catalog));
    experiment.tasks.push_back(std::move(task));
  }
  for (int i = 0; i < spec.method_size(); ++i) {
    const std::string where = experiment.source.Where(absl::StrCat("method[", i, "]"));
    const absl::StatusOr<MethodFiles> files = FindMethodFiles(spec.method(i), folders, beside);
    if (!files.ok()) return Annotate(files.status(), where);
    OPENSET_ASSIGN_OR_RETURN(LoadedMethod method, ReadMethod(*files, override));
    experiment.methods.push_back(std::move(method));
  }
  return experiment;
}

std::string WhereInMethod(const Experiment& experiment, const LoadedMethod& method, const std::string& path) {
  const absl::StatusOr<std::string> overridden = GetField(experiment.spec.override(), path);
  if (overridden.ok() && !overridden->empty()) return experiment.source.Where(absl::StrCat("override.", path));
  for (auto preset = method.presets.rbegin(); preset != method.presets.rend(); ++preset) {
    const absl::StatusOr<std::string> set = GetField(preset->spec, path);
    if (set.ok() && !set->empty()) return preset->source.Where(path);
  }
  return method.source.Where(path);
}

}  // namespace openset
