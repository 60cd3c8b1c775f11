#include "tools/cli/data/sets.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "data/sets/data_set.h"
#include "data/sets/folder_data_set.h"
#include "data/task.h"
#include "experiments/spec/spec_folders.h"
#include "tools/cli/data/data_flags.h"
#include "tools/cli/flags/library_flags.h"

ABSL_DECLARE_FLAG(std::vector<std::string>, parts);
ABSL_DECLARE_FLAG(std::string, split);

namespace openset {
namespace {

std::string ClassText(const DataSetInfo& info, int id) {
  return id < info.class_title_size() ? absl::StrCat(info.class_title(id), " (", info.class_name(id), ")")
                                      : info.class_name(id);
}

absl::StatusOr<std::vector<NamedSamples>> OfDataSet(const DataSetInfo& info, const std::vector<std::string>& folders) {
  std::vector<std::string> parts = absl::GetFlag(FLAGS_parts);
  const bool all = parts.empty();
  for (int p = 0; all && p < info.layout(0).part_size(); ++p) parts.push_back(info.layout(0).part(p).name());
  std::vector<NamedSamples> sets;
  absl::Status missing;
  for (const std::string& part : parts) {
    const absl::Status found = FindPartFiles(info, part, folders).status();
    if (!found.ok() && all && absl::IsNotFound(found)) {
      missing = found;
      continue;
    }
    OPENSET_RETURN_IF_ERROR(found);
    NamedSamples& set = sets.emplace_back();
    set.name = part;
    OPENSET_ASSIGN_OR_RETURN(set.source, OpenPart(info, part, folders));
    set.samples.index.resize(set.source->index().size());
    std::iota(set.samples.index.begin(), set.samples.index.end(), 0);
    set.samples.label.assign(set.source->index().label.begin(), set.source->index().label.end());
    for (int id = 0; id < info.class_name_size(); ++id) set.class_name.push_back(ClassText(info, id));
  }
  if (sets.empty()) return missing;
  return sets;
}

absl::StatusOr<NamedSamples> OfSelection(const Selection& selection, const Catalog& catalog,
                                         const std::vector<std::string>& folders) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
  OPENSET_ASSIGN_OR_RETURN(OpenedSelection opened, OpenSelection(selection, catalog, folders));
  NamedSamples set;
  set.source = std::move(opened.source);
  set.samples = std::move(opened.samples);
  for (int i = 0; i < selection.class_id_size(); ++i) {
    const size_t label = selection.label_size() > 0 ? selection.label(i) : i;
    if (set.class_name.size() <= label) set.class_name.resize(label + 1);
    set.class_name[label] = ClassText(*info, selection.class_id(i));
  }
  return set;
}

absl::StatusOr<std::vector<NamedSamples>> OfTask(const TaskSpec& task, const Catalog& catalog,
                                                 const std::vector<std::string>& folders) {
  TaskRequest request;
  const std::string split = absl::GetFlag(FLAGS_split);
  if (!split.empty() && !absl::SimpleAtoi(split, &request.split)) {
    return absl::InvalidArgumentError(absl::StrCat("--split: '", split, "' is not a number"));
  }
  OPENSET_ASSIGN_OR_RETURN(const TaskData data, ResolveTask(task, request, catalog), "task ", task.name());
  std::vector<NamedSamples> sets;
  const auto add = [&](const Selection& selection, std::string name, NamedSamples::Role role) -> absl::Status {
    OPENSET_ASSIGN_OR_RETURN(NamedSamples set, OfSelection(selection, catalog, folders));
    set.name = std::move(name);
    set.role = role;
    sets.push_back(std::move(set));
    return absl::OkStatus();
  };
  OPENSET_RETURN_IF_ERROR(add(data.train(), "train", NamedSamples::TRAIN));
  OPENSET_RETURN_IF_ERROR(add(data.test_known(), "known", NamedSamples::KNOWN));
  for (const ShiftedGroup& group : data.test_shifted()) {
    OPENSET_RETURN_IF_ERROR(add(group.selection(), group.name(), NamedSamples::KNOWN));
  }
  for (const UnknownGroup& group : data.test_unknown()) {
    OPENSET_RETURN_IF_ERROR(add(group.selection(), group.name(), NamedSamples::UNKNOWN));
  }
  if (data.has_external()) OPENSET_RETURN_IF_ERROR(add(data.external(), "external", NamedSamples::EXTERNAL));
  return sets;
}

}  // namespace

absl::StatusOr<std::vector<NamedSamples>> SamplesOf(const std::string& name) {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, CatalogFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> folders, DataFoldersFromFlags());
  const std::string data_set = DataSetName(name, catalog);
  const std::vector<std::string> known = catalog.names();
  if (absl::StartsWith(data_set, kFolderPrefix) || std::binary_search(known.begin(), known.end(), data_set)) {
    // A task takes precedence over a data set of the same name, unless --parts is given.
    OPENSET_ASSIGN_OR_RETURN(const SpecFolders tasks, SpecFoldersFromFlags());
    const std::vector<std::string> task_names = NamesIn(tasks.tasks);
    const bool is_task = std::count(task_names.begin(), task_names.end(), data_set) > 0;
    if (!is_task || !absl::GetFlag(FLAGS_parts).empty()) {
      OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(data_set));
      return OfDataSet(*info, folders);
    }
  }
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders_of_specs, SpecFoldersFromFlags());
  const std::string task = absl::EndsWith(name, ".textproto") ? UserPath(name) : name;
  OPENSET_ASSIGN_OR_RETURN(const std::string path, FindSpecFile("task", task, folders_of_specs.tasks, ""));
  OPENSET_ASSIGN_OR_RETURN(const TaskSpec spec, ReadTask(path, catalog));
  return OfTask(spec, catalog, folders);
}

}  // namespace openset
