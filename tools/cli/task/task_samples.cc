#include "tools/cli/task/task_samples.h"

#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/table.h"
#include "data/catalog.pb.h"
#include "data/sets/data_set.h"
#include "data/splits/task_problems.h"
#include "data/task.h"
#include "experiments/arrays/sample_file.h"
#include "experiments/report/examples.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/details.pb.h"
#include "tools/cli/flags/flags.h"

namespace openset {

absl::Status WriteTaskSamples(const std::string& name, const RunConfig& config) {
  TaskRequest request;
  OPENSET_ASSIGN_OR_RETURN(request.split, ParseSplit(config));
  request.train_limit_per_class = config.train_limit;
  request.test_limit_per_class = config.test_limit;
  request.validation_per_class = config.validation_per_class;
  if (request.validation_per_class < 0) return absl::InvalidArgumentError("--validation_per_class: must be 0 or more");
  OPENSET_ASSIGN_OR_RETURN(SpecFolders folders, FindSpecFolders(config));
  const std::string path = absl::EndsWith(name, ".textproto") ? UserPath(name) : name;
  AddLibraryOfTask(path, &folders);
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, Catalog::Open(folders.catalog));
  OPENSET_ASSIGN_OR_RETURN(TaskSpec task, LoadTask(path, folders, "", catalog));
  OPENSET_RETURN_IF_ERROR(ReplaceFitPart(config.fit_part, catalog, &task), "--fit_part");
  OPENSET_ASSIGN_OR_RETURN(const TaskData data, ResolveTask(task, request, catalog));

  if (config.out.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const TextFormat format, ParseTableFormat(config));
    OPENSET_ASSIGN_OR_RETURN(const Table table, SampleTable(data, catalog, config.data_folders));
    std::cout << FormatTable(table, format);
    return absl::OkStatus();
  }
  SampleFile test(catalog, config.data_folders);
  OPENSET_RETURN_IF_ERROR(test.Add(data.test_known(), -1));
  std::vector<std::string> groups;
  for (int g = 0; g < data.test_unknown_size(); ++g) {
    groups.push_back(data.test_unknown(g).name());
    OPENSET_RETURN_IF_ERROR(test.Add(data.test_unknown(g).selection(), g));
  }
  for (const ShiftedGroup& group : data.test_shifted()) OPENSET_RETURN_IF_ERROR(test.Add(group.selection(), -1));
  SampleFile fit(catalog, config.data_folders);
  if (!task.test_only() || task.has_fit_part()) OPENSET_RETURN_IF_ERROR(fit.Add(data.train(), -1));

  SampleFile validation(catalog, config.data_folders);
  std::vector<std::string> validation_groups;
  if (data.has_validation_known()) OPENSET_RETURN_IF_ERROR(validation.Add(data.validation_known(), -1));
  for (const UnknownGroup& group : data.validation_unknown()) {
    const absl::Status added = validation.Add(group.selection(), static_cast<int64_t>(validation_groups.size()));
    if (absl::IsUnimplemented(added)) {
      std::cerr << "hint: the task's external validation images of '" << OneLine(group.selection().data_set())
                << "' are left out of validation.npz: they are stored in another form or size than the task's own\n";
      continue;
    }
    OPENSET_RETURN_IF_ERROR(added);
    validation_groups.push_back(group.name());
  }

  const std::string folder = UserPath(config.out);
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  OPENSET_RETURN_IF_ERROR(test.Write(JoinPath(folder, "test.npz"), groups));
  std::cout << JoinPath(folder, "test.npz") << ": " << test.size() << " samples\n";
  if (!fit.empty()) {
    OPENSET_RETURN_IF_ERROR(fit.Write(JoinPath(folder, "fit.npz"), {}));
    std::cout << JoinPath(folder, "fit.npz") << ": " << fit.size() << " samples\n";
  }
  if (validation.empty()) return absl::OkStatus();
  OPENSET_RETURN_IF_ERROR(validation.Write(JoinPath(folder, "validation.npz"), validation_groups));
  std::cout << JoinPath(folder, "validation.npz") << ": " << validation.size() << " samples\n";
  return absl::OkStatus();
}

namespace {

// "cat"; "class 7" if the catalog doesn't name it.
std::string ClassName(const std::string& data_set, int64_t class_id, const Catalog& catalog) {
  const absl::StatusOr<const DataSetInfo*> info = catalog.Find(data_set);
  if (info.ok() && class_id >= 0 && class_id < (*info)->class_name_size()) {
    return (*info)->class_name(static_cast<int>(class_id));
  }
  return absl::StrCat("class ", class_id);
}

}  // namespace

absl::StatusOr<Table> SampleTable(const TaskData& data, const Catalog& catalog,
                                  const std::vector<std::string>& data_folders) {
  OpenParts open_parts;
  OPENSET_ASSIGN_OR_RETURN(const TestSamples samples, TestSamples::Open(data, catalog, data_folders, &open_parts));
  Table table{{"row", "label", "class", "group", "sample"}, {}, 5};
  const auto add = [&](const Selection& selection, bool is_known, const std::string& group) -> absl::Status {
    OPENSET_ASSIGN_OR_RETURN(const OpenedSelection opened, OpenSelection(selection, catalog, data_folders));
    for (int64_t i = 0; i < opened.samples.size(); ++i) {
      const int64_t label = opened.samples.label[i], row = static_cast<int64_t>(table.rows.size());
      OPENSET_ASSIGN_OR_RETURN(std::string name, samples.NameOf(row));
      table.rows.push_back({absl::StrCat(row), absl::StrCat(is_known ? label : -1),
                            ClassName(selection.data_set(), ClassOfLabel(selection, label), catalog), group,
                            std::move(name)});
    }
    return absl::OkStatus();
  };
  OPENSET_RETURN_IF_ERROR(add(data.test_known(), true, ""));
  for (const UnknownGroup& group : data.test_unknown()) {
    OPENSET_RETURN_IF_ERROR(add(group.selection(), false, group.name()));
  }
  for (const ShiftedGroup& group : data.test_shifted()) OPENSET_RETURN_IF_ERROR(add(group.selection(), true, ""));
  return table;
}

Table MistakeTable(const TrialRecord& record, const Catalog& catalog, const std::vector<std::string>& data_folders,
                   std::string* why_unnamed) {
  const TaskData& data = record.trial().data();
  OpenParts open_parts;
  const absl::StatusOr<std::vector<std::string>> samples =
      MistakenSamples(record.trial(), record, catalog, data_folders, &open_parts);
  *why_unnamed = std::string(samples.status().message());
  Table table{{"kind", "row", "class", "group", "predicted", "unknown_score", "sample"}, {}, 7};
  const std::vector<Mistake> mistakes = MistakesOf(record);
  for (size_t m = 0; m < mistakes.size(); ++m) {
    const Mistake& mistake = mistakes[m];
    const bool is_unknown = mistake.kind() == Mistake::UNKNOWN_TAKEN_FOR_KNOWN;
    std::string data_set = data.test_known().data_set();
    for (const UnknownGroup& group : data.test_unknown()) {
      if (is_unknown && (mistake.set().empty() || group.name() == mistake.set())) {
        data_set = group.selection().data_set();
        break;
      }
    }
    const int label = mistake.has_predicted_label() ? mistake.predicted_label() : -1;
    const Selection& known = data.test_known();
    table.rows.push_back({mistake.kind() == Mistake::KNOWN_TAKEN_FOR_UNKNOWN ? "known taken for unknown"
                          : is_unknown                                       ? "unknown taken for known"
                                                                             : "wrong class",
                          absl::StrCat(mistake.row()), ClassName(data_set, mistake.class_id(), catalog), mistake.set(),
                          label >= 0 && label < known.class_id_size()
                              ? ClassName(known.data_set(), known.class_id(label), catalog)
                              : "unknown",
                          FullPrecision(mistake.unknown_score()), samples.ok() ? (*samples)[m] : ""});
  }
  return table;
}

}  // namespace openset
