#include "tools/cli/task/task_samples.h"

#include <cstdint>
#include <iostream>
#include <vector>

#include "absl/strings/match.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/table.h"
#include "data/splits/task_problems.h"
#include "data/task.h"
#include "experiments/arrays/sample_file.h"
#include "experiments/spec/experiment_file.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/task/sample_table.h"

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

}  // namespace openset
