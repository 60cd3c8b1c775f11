#include "experiments/spec/experiment_file.h"

#include <algorithm>
#include <filesystem>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/field_path.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/suggest.h"
#include "data/splits/class_splits.h"
#include "data/task.h"
#include "experiments/published/published.h"
#include "experiments/spec/model_files.h"

namespace openset {

bool AppliesTo(const Axis& axis, absl::string_view method) {
  return axis.method_size() == 0 || absl::c_linear_search(axis.method(), method);
}

absl::Status SetAxis(const Axis& axis, const std::string& value, MethodSpec* method) {
  OPENSET_RETURN_IF_ERROR(SetField(axis.path(), value, method));
  for (const std::string& path : axis.also()) OPENSET_RETURN_IF_ERROR(SetField(path, value, method));
  return absl::OkStatus();
}

std::string AxisLabel(absl::string_view value) {
  value = absl::StripAsciiWhitespace(value);
  if (absl::StartsWith(value, "{") && absl::EndsWith(value, "}")) {
    value = absl::StripAsciiWhitespace(value.substr(1, value.size() - 2));
  }
  if (value.size() > 2) absl::ConsumeSuffix(&value, "{}");
  return std::string(absl::StripTrailingAsciiWhitespace(value));
}

std::string AxisName(const Axis& axis) {
  if (axis.has_name()) return axis.name();
  const std::vector<std::string> parts = absl::StrSplit(axis.path(), '.');
  return parts.back();
}

namespace {

// The suffix of a form of any task (TaskSpec.balanced_with_replacement).
constexpr char kBalanced[] = "+balanced_with_replacement";

// The file in SpecFolders.carried_tasks of the task that a spec names; "" if there is none.
std::string CarriedTask(absl::string_view name, const SpecFolders& folders) {
  const std::string file =
      absl::StrCat(absl::StripSuffix(name.substr(name.rfind('/') + 1), ".textproto"), ".textproto");
  for (const std::string& folder : folders.carried_tasks) {
    if (std::string path = JoinPath(folder, file); FileExists(path)) return path;
  }
  return "";
}

// The task's file; `replaced` gets the user's file if the carried one has other content.
absl::StatusOr<std::string> FindTaskFile(absl::string_view name, const SpecFolders& folders, const std::string& beside,
                                         std::vector<std::string>* replaced = nullptr) {
  absl::ConsumeSuffix(&name, kBalanced);
  absl::StatusOr<std::string> path = FindSpecFile("task", std::string(name), folders.tasks, beside);
  if (const std::string carried = CarriedTask(name, folders); !carried.empty()) {
    // If both files are equal, the user's wins: its paths of data are relative to it.
    const bool is_same =
        path.ok() && ReadFile(*path, kMaxTextBytes).value_or("") == ReadFile(carried, kMaxTextBytes).value_or("");
    if (path.ok() && !is_same && replaced != nullptr) replaced->push_back(*path);
    return is_same ? *path : carried;
  }
  if (!absl::IsNotFound(path.status())) return path;
  return absl::NotFoundError(absl::StrCat(path.status().message(),
                                          ": if the study was copied, copy this file with it, ",
                                          "or the bundle of its records, if that has it in library/tasks/"));
}

// Reads the task in `path`, in the form that `name` selects, and gives it that name.
absl::StatusOr<TaskSpec> ReadTaskForm(absl::string_view name, const std::string& path, const Catalog& catalog,
                                      std::vector<std::string>* hints) {
  OPENSET_ASSIGN_OR_RETURN(TaskSpec task, ReadTask(path, catalog, hints));
  if (!absl::EndsWith(name, kBalanced)) return task;
  task.set_balanced_with_replacement(true);
  task.set_name(absl::StrCat(task.name(), kBalanced));
  return task;
}

// Returns the index of `name` in a list of the experiment. Errors: kInvalidArgument with the known names.
template <typename List>
absl::StatusOr<int> PlaceOf(absl::string_view kind, const std::string& name, const List& list,
                            const std::string& where) {
  const auto found = std::find(list.begin(), list.end(), name);
  if (found != list.end()) return static_cast<int>(found - list.begin());
  return absl::InvalidArgumentError(absl::StrCat(
      where, ": ", UnknownName(absl::StrCat(kind, " of this experiment"), name, {list.begin(), list.end()})));
}

bool IsLeftOut(const Experiment& experiment, const std::string& method) {
  const std::vector<std::string>& left_out = experiment.left_out_methods;
  return std::find(left_out.begin(), left_out.end(), method) != left_out.end();
}

// Reads the methods that `task_preset` changes for some tasks.
absl::Status ReadTaskMethods(const std::string& beside, const MethodSpec& override, Experiment* experiment) {
  const ExperimentSpec& spec = experiment->spec;
  std::map<std::pair<int, int>, std::vector<std::string>> presets;  // by task and method
  std::map<std::pair<int, int>, std::string> places;
  for (int p = 0; p < spec.task_preset_size(); ++p) {
    const TaskPreset& preset = spec.task_preset(p);
    const std::string field = absl::StrCat("task_preset[", p, "]");
    const auto where = [&](const char* list, int i) {
      return experiment->source.Where(absl::StrCat(field, ".", list, "[", i, "]"));
    };
    std::vector<int> methods;
    for (int m = 0; m < preset.method_size(); ++m) {
      if (IsLeftOut(*experiment, preset.method(m))) continue;
      OPENSET_ASSIGN_OR_RETURN(methods.emplace_back(),
                               PlaceOf("method", preset.method(m), spec.method(), where("method", m)));
    }
    if (preset.method_size() == 0) {
      for (int m = 0; m < spec.method_size(); ++m) methods.push_back(m);
    }
    for (int t = 0; t < preset.task_size(); ++t) {
      OPENSET_ASSIGN_OR_RETURN(const int task, PlaceOf("task", preset.task(t), spec.task(), where("task", t)));
      for (const int method : methods) {
        std::vector<std::string>& list = presets[{task, method}];
        list.insert(list.end(), preset.preset().begin(), preset.preset().end());
        places[{task, method}] = experiment->source.Where(absl::StrCat(field, ".preset"));
      }
    }
  }
  for (const auto& [place, list] : presets) {
    const std::string name = absl::StrCat(spec.method(place.second), "+", absl::StrJoin(list, "+"));
    const absl::StatusOr<MethodFiles> files = FindMethodFiles(name, experiment->folders, beside);
    if (!files.ok()) return Annotate(files.status(), places[place]);
    OPENSET_ASSIGN_OR_RETURN(LoadedMethod method, ReadMethod(*files, experiment->folders, override));
    method.spec.set_name(experiment->methods[place.second].spec.name());
    experiment->task_methods.emplace(place, std::move(method));
  }
  return absl::OkStatus();
}

// Checks the baseline: a method, values of a sweep ("lambda 0.1" or "lambda=0.1"), or both ("openauc, lambda 0.1").
absl::Status CheckBaseline(const Experiment& experiment) {
  const std::string where = experiment.source.Where("report.baseline");
  std::vector<std::string> methods, values;
  for (const LoadedMethod& method : experiment.methods) methods.push_back(method.spec.name());
  for (const Axis& axis : experiment.spec.axis()) {
    for (const std::string& value : axis.value()) values.push_back(absl::StrCat(AxisName(axis), " ", AxisLabel(value)));
  }
  const std::vector<std::string> parts = absl::StrSplit(experiment.spec.report().baseline(), ", ");
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string part = parts[i];
    if (i == 0 && (values.empty() || absl::c_linear_search(methods, part))) {
      OPENSET_RETURN_IF_ERROR(PlaceOf("method", part, methods, where).status());
      continue;
    }
    if (const size_t equals = part.find('='); equals != std::string::npos) part[equals] = ' ';
    std::vector<std::string> known = values;
    if (i == 0) known.insert(known.begin(), methods.begin(), methods.end());
    OPENSET_RETURN_IF_ERROR(PlaceOf(i == 0 ? "method or swept value" : "swept value", part, known, where).status());
  }
  return absl::OkStatus();
}

// Checks the names in the report section, before any training.
absl::Status CheckReport(const Experiment& experiment) {
  const ReportSpec& report = experiment.spec.report();
  std::vector<std::string> fields = {"method",          "task",  "group", "metric", "known_classes",
                                     "unknown_classes", "split", "seed"};
  for (const Axis& axis : experiment.spec.axis()) fields.push_back(AxisName(axis));
  for (const auto& [name, list] : {std::pair{"row", &report.row()}, {"column", &report.column()}}) {
    for (int i = 0; i < list->size(); ++i) {
      if (std::find(fields.begin(), fields.end(), list->Get(i)) != fields.end()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(experiment.source.Where(absl::StrCat("report.", name, "[", i, "]")), ": ",
                       UnknownName("field", list->Get(i), fields)));
    }
  }
  if ((report.row_size() > 0) != (report.column_size() > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(experiment.source.Where("report"), ": has only one of row and column; name both or none"));
  }
  const std::string of_baseline = report.baseline().substr(0, report.baseline().find(", "));
  if (!report.has_baseline() || IsLeftOut(experiment, of_baseline)) return absl::OkStatus();
  return CheckBaseline(experiment);
}

absl::Status ReadPublishedTables(const std::string& beside, Experiment* experiment) {
  const ReportSpec& report = experiment->spec.report();
  for (int i = 0; i < report.published_size(); ++i) {
    const absl::StatusOr<std::string> file =
        FindSpecFile("published numbers", report.published(i).name(), experiment->folders.published, beside);
    if (!file.ok()) {
      return Annotate(file.status(), experiment->source.Where(absl::StrCat("report.published[", i, "].name")));
    }
    OPENSET_ASSIGN_OR_RETURN(PublishedTable table, ReadPublished(*file));
    experiment->published.push_back(std::move(table));
  }
  return absl::OkStatus();
}

// The method that --methods means: of a study that has `name` only with presets ("softmax+laptop"), that one.
absl::StatusOr<std::string> MethodOfStudy(const std::string& name, const std::vector<std::string>& of_study) {
  if (absl::c_linear_search(of_study, name)) return name;
  std::vector<std::string> with_presets;
  for (const std::string& method : of_study) {
    if (absl::StartsWith(method, absl::StrCat(name, "+"))) with_presets.push_back(method);
  }
  if (with_presets.empty()) return name;
  if (with_presets.size() == 1) return with_presets[0];
  return absl::InvalidArgumentError(absl::StrCat("--methods: '", name, "' may be ", absl::StrJoin(with_presets, " or "),
                                                 " of the study: write which"));
}

// All methods, methods of single tasks after the others.
std::vector<LoadedMethod*> AllMethods(Experiment* experiment) {
  std::vector<LoadedMethod*> methods;
  for (LoadedMethod& method : experiment->methods) methods.push_back(&method);
  for (auto& [place, method] : experiment->task_methods) methods.push_back(&method);
  return methods;
}

}  // namespace

absl::StatusOr<TaskSpec> LoadTask(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                  const Catalog& catalog, std::vector<std::string>* hints) {
  OPENSET_ASSIGN_OR_RETURN(const std::string path, FindTaskFile(name, folders, beside));
  return ReadTaskForm(name, path, catalog, hints);
}

absl::StatusOr<Experiment> LoadExperiment(const std::string& name, const SpecFolders& given, const SpecChanges& typed) {
  OPENSET_ASSIGN_OR_RETURN(const std::string path, FindSpecFile("study", name, given.specs, ""));
  const std::string beside = std::filesystem::path(path).parent_path().string();
  SpecFolders folders = given;
  AddSpecFolders(SpecFoldersAround(beside), &folders);
  SpecChanges changes = typed;
  ExperimentSpec spec;
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadTextProto(path, &spec));
  const std::vector<std::string> named(spec.method().begin(), spec.method().end());
  for (std::string& method : changes.methods) {
    OPENSET_ASSIGN_OR_RETURN(method, MethodOfStudy(SuggestedMethod(method, folders), named));
  }
  OPENSET_RETURN_IF_ERROR(ChangeSpec(changes, &spec));
  // Changes by the command line must obey the schema's rules too.
  OPENSET_RETURN_IF_ERROR(CheckRules(spec, source));
  if (const std::string problem = NameProblem(spec.name()); !problem.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(source.Where("name"), ": ", problem));
  }
  OPENSET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Open(folders.catalog));
  Experiment experiment{spec, std::move(source), {}, {}, std::move(catalog), folders};
  OPENSET_ASSIGN_OR_RETURN(experiment.sha256, Sha256HexOfFile(path));
  experiment.overrides = changes.Texts();
  for (const std::string& method : named) {
    if (std::count(spec.method().begin(), spec.method().end(), method) == 0) {
      experiment.left_out_methods.push_back(method);
    }
  }
  MethodSpec override = spec.override();
  OPENSET_RETURN_IF_ERROR(ResolveMethodFiles(path, "override.", experiment.source, &override));
  for (int i = 0; i < spec.task_size(); ++i) {
    const std::string where = experiment.source.Where(absl::StrCat("task[", i, "]"));
    absl::StatusOr<std::string> file = FindTaskFile(spec.task(i), folders, beside, &experiment.replaced_tasks);
    if (!file.ok()) return Annotate(file.status(), where);
    std::vector<std::string> hints;
    OPENSET_ASSIGN_OR_RETURN(TaskSpec task, ReadTaskForm(spec.task(i), *file, experiment.catalog, &hints));
    experiment.tasks.push_back(std::move(task));
    experiment.task_hints.insert(experiment.task_hints.end(), hints.begin(), hints.end());
  }
  for (int i = 0; i < spec.method_size(); ++i) {
    const std::string where =
        changes.methods.empty() ? experiment.source.Where(absl::StrCat("method[", i, "]")) : "--methods";
    const absl::StatusOr<MethodFiles> files = FindMethodFiles(spec.method(i), folders, beside);
    if (!files.ok()) return Annotate(files.status(), where);
    OPENSET_ASSIGN_OR_RETURN(LoadedMethod method, ReadMethod(*files, folders, override));
    experiment.methods.push_back(std::move(method));
  }
  OPENSET_RETURN_IF_ERROR(ReadTaskMethods(beside, override, &experiment));
  OPENSET_RETURN_IF_ERROR(ChangeMethods(changes, AllMethods(&experiment)));
  OPENSET_RETURN_IF_ERROR(CheckReport(experiment));
  OPENSET_RETURN_IF_ERROR(ReadPublishedTables(beside, &experiment));
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
  for (LoadedMethod* method : AllMethods(experiment)) {
    if (!IsOfSplit(method->spec.model())) continue;
    for (const FieldProblem& problem : ResolveSplitFiles(
             {splits.begin(), splits.end()}, {experiment->spec.seed().begin(), experiment->spec.seed().end()},
             method->spec.mutable_model())) {
      lines.push_back(absl::StrCat(WhereInMethod(*experiment, *method, problem.path), ": ", problem.message));
    }
  }
  return lines.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

std::string WhereInMethod(const Experiment& experiment, const LoadedMethod& method, const std::string& path) {
  for (const std::string& flag : experiment.overrides) {
    // "--set=PATH=VALUE"
    const std::vector<std::string> parts = absl::StrSplit(flag, '=');
    if (parts.size() > 2 && SamePlace(method.spec, parts[1], method.spec).value_or("") == path) {
      return absl::StrCat(flag, ": ", path);
    }
  }
  const std::string overridden = PlaceInLayer(method, path, experiment.spec.override());
  if (!overridden.empty()) return experiment.source.Where(absl::StrCat("override.", overridden));
  return WhereInLayers(method, path);
}

}  // namespace openset
