#include "tools/cli/records/spec_of_record.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/proto/field_differences.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/spec/command_sources.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/resolve/resolve_method.h"
#include "experiments/spec/trial.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

constexpr size_t kMostDifferences = 5;

std::string NameOf(const TrialRecord& record) { return absl::StrCat("again_", record.trial_id().substr(0, 12)); }

// Without the method's name and the level of openness.
ExperimentSpec PlainSpec(const TrialRecord& record) {
  const TrialSpec& trial = record.trial();
  const TaskData& data = trial.data();
  ExperimentSpec spec;
  spec.set_name(NameOf(record));
  spec.set_question(absl::StrCat("Does ", trial.method().name(), " give the same numbers again?"));
  spec.add_task(trial.task());
  spec.add_split(trial.split());
  spec.add_seed(trial.seed());
  MethodSpec* settings = spec.mutable_override();
  *settings = trial.method();
  if (settings->training().has_command()) settings->mutable_training()->mutable_command()->clear_folder();
  settings->clear_name();
  settings->clear_title();
  settings->clear_reference();
  settings->clear_note();
  *spec.mutable_metric() = trial.metric();
  *spec.mutable_execution() = trial.execution();
  if (data.train().limit_per_class() > 0) spec.set_train_limit_per_class(data.train().limit_per_class());
  if (data.test_known().limit_per_class() > 0) spec.set_test_limit_per_class(data.test_known().limit_per_class());
  if (data.train().without_last_per_class() > 0) spec.set_validation_per_class(data.train().without_last_per_class());
  return spec;
}

// "mcp" of "mcp+vaze600 (tuned)".
std::string BaseName(const std::string& name) { return name.substr(0, name.find_first_of("+ ")); }

// Names the method as the record does: "mine+laptop" of "mine+laptop (tuned)".
void Label(const MethodSpec& method, MethodSpec* settings) {
  const std::string name = method.name().substr(0, method.name().find(' '));
  if (!IsName(name)) return;
  settings->set_name(name);
  if (method.has_title()) settings->set_title(method.title());
  if (method.has_reference()) settings->set_reference(method.reference());
  if (method.has_note()) settings->set_note(method.note());
}

// The candidates, the most likely first: the method that the settings override, and the level of openness.
std::vector<ExperimentSpec> Candidates(const TrialRecord& record, const SpecFolders& folders) {
  const TrialSpec& trial = record.trial();
  std::vector<std::string> methods = MethodNames(folders);
  const std::string own = BaseName(trial.method().name());
  std::stable_partition(methods.begin(), methods.end(), [&](const std::string& name) { return name == own; });
  std::vector<ExperimentSpec> candidates;
  for (const std::string& method : methods) {
    ExperimentSpec spec = PlainSpec(record);
    spec.add_method(method);
    if (method != own) Label(trial.method(), spec.mutable_override());
    candidates.push_back(spec);
    spec.add_unknown_classes(CountUnknownClasses(trial.data()));
    candidates.push_back(std::move(spec));
  }
  return candidates;
}

std::string DifferenceText(const TrialSpec& wanted, const TrialSpec& made) {
  std::vector<std::string> parts;
  for (const FieldDifference& difference : FindDifferences(wanted, made)) {
    if (parts.size() == kMostDifferences) {
      parts.push_back("...");
      break;
    }
    parts.push_back(difference.path);
  }
  return parts.empty() ? "the program has another revision of a component ('openset explain ID' names it)"
                       : absl::StrJoin(parts, ", ");
}

}  // namespace

absl::StatusOr<SpecThatRepeats> SpecOfRecord(const TrialRecord& record, const SpecFolders& folders, const Store& store,
                                             const StudyOptions& options) {
  const TrialSpec& trial = record.trial();
  if (trial.data().test_known().only_last_per_class() > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(record.trial_id().substr(0, 12), ", ", Describe(trial),
                     ": is a candidate of a search, measured on validation images: run the study of the search"));
  }
  const std::vector<std::string> tasks = NamesIn(folders.tasks);
  const std::string task = trial.task().substr(0, trial.task().find('+'));
  if (!absl::c_linear_search(tasks, task)) {
    return absl::NotFoundError(absl::StrCat("no library has the task '", trial.task(),
                                            "' of the record: pass the folder with its tasks/ and catalog/ as "
                                            "--library"));
  }
  // A problem of the task concerns every candidate, so the task is checked once.
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, Catalog::Open(folders.catalog));
  OPENSET_RETURN_IF_ERROR(LoadTask(task, folders, "", catalog).status());
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make("again"));
  const std::string path = JoinPath(folder.path(), absl::StrCat(NameOf(record), ".textproto"));
  const std::string own = BaseName(trial.method().name());
  std::optional<std::string> nearest;  // the differences of the first candidate that makes a trial
  absl::Status first, of_own;          // the first problem of any candidate, and of those with the record's own method
  bool own_loads = false;
  std::vector<std::string> absent;          // messages about missing data
  std::optional<ExperimentSpec> unchecked;  // of the trial with the fewest differences
  size_t fewest = 0;
  for (ExperimentSpec& spec : Candidates(record, folders)) {
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, ToText(spec)));
    const absl::StatusOr<std::unique_ptr<Study>> study = Study::Load(path, folders, store, options);
    const bool is_own = spec.method(0) == own;
    if (!study.ok()) {
      if (first.ok()) first = study.status();
      if (is_own && of_own.ok()) of_own = study.status();
      continue;
    }
    own_loads |= is_own;
    if (absent.empty() && !(*study)->contents().unresolved.empty()) absent = (*study)->contents().lines;
    const Plan& plan = (*study)->plan();
    for (size_t t = 0; t < plan.trials.size(); ++t) {
      if (plan.trial_id(static_cast<int>(t)) == record.trial_id()) return SpecThatRepeats{std::move(spec), ""};
      const size_t differences = FindDifferences(trial, plan.trials[t].Spec()).size();
      if (is_own && (!unchecked.has_value() || differences < fewest)) {
        unchecked = spec;
        fewest = differences;
      }
      if (!nearest.has_value()) nearest = DifferenceText(trial, plan.trials[t].Spec());
    }
  }
  if (!own_loads && !of_own.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(record.trial_id().substr(0, 12), ", ", Describe(trial),
                                                      ": its settings can't override the library's ", own, ": ",
                                                      of_own.message()));
  }
  if (!absent.empty() && unchecked.has_value()) {
    return SpecThatRepeats{*std::move(unchecked), absl::StrCat(record.trial_id().substr(0, 12), ", ", Describe(trial),
                                                               ": its id depends on data that is not on this machine: ",
                                                               absl::StrJoin(absent, "; "))};
  }
  return absl::FailedPreconditionError(
      absl::StrCat(record.trial_id().substr(0, 12), ", ", Describe(trial), ": no study here makes this trial; ",
                   nearest.has_value() ? absl::StrCat("differences: ", *nearest) : std::string(first.message())));
}

std::string SpecFile(const SpecThatRepeats& made, const TrialRecord& record) {
  const MethodSpec& method = record.trial().method();
  const CommandSpec& command = method.training().command();
  const std::string files = command.source().empty() ? FilesText(method.model()) : SourcesText(command);
  const std::string& name = made.spec.override().name();
  return absl::StrCat(
      "# proto-file: experiments/spec/experiment.proto\n# proto-message: openset.ExperimentSpec\n#\n# ",
      "Makes the trial ", record.trial_id(), " again",
      made.unchecked.empty() ? "" : "; unchecked, because not all of its data is on this machine",
      ".\n# openset looks for its task in the libraries, and in the bundles beside this file.\n",
      name.empty()
          ? ""
          : absl::StrCat("# ", name, " itself is in no library: `override` has all of its settings, which replace ",
                         "those of ", made.spec.method(0), ".\n"),
      files.empty() ? "" : absl::StrCat("# It runs only with these files next to it: ", files, ".\n"), "\n",
      ToText(made.spec));
}

}  // namespace openset
