#include "tools/cli/flags.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/process/build_info.h"
#include "core/process/gpus.h"
#include "core/status_macros.h"
#include "experiments/spec/expand.h"

ABSL_FLAG(std::string, store, "openset-store", "Folder of records, checkpoints, outputs and reports.");
ABSL_FLAG(
    std::string, library, "",
    "Folders, separated by commas, with any of methods/, presets/, tasks/, catalog/ and specs/ (or these where the "
    "source tree has them), whose names stand beside those that come with the program, like those of the folders "
    "in the environment's OPENSET_LIBRARY and of the spec's own folder.");
ABSL_FLAG(std::string, data, "",
          "Folders with data files, separated by commas; searched before those that come with the program and before "
          "~/.cache/openset/data.");
ABSL_FLAG(std::string, devices, "auto",
          "cpu; cuda:0,1 for these GPUs; auto for all GPUs if the program was built for them, else cpu. Decides where "
          "experiments run that leave the device open.");

namespace openset {

std::string UserPath(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  return folder == nullptr ? path : JoinPath(folder, path);
}

absl::StatusOr<Store> StoreFromFlags() {
  Store store(std::filesystem::absolute(UserPath(absl::GetFlag(FLAGS_store))).lexically_normal().string());
  OPENSET_RETURN_IF_ERROR(store.CheckVersion());
  return store;
}

absl::StatusOr<SpecFolders> SpecFoldersFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  SpecFolders folders = SpecFoldersBelow(JoinPath(runfiles, "openset"));
  const char* variable = std::getenv("OPENSET_LIBRARY");
  for (const auto& [name, list] : {std::pair<std::string, std::string>{"OPENSET_LIBRARY", variable ? variable : ""},
                                   {"--library", absl::GetFlag(FLAGS_library)}}) {
    for (absl::string_view folder : absl::StrSplit(list, ',', absl::SkipEmpty())) {
      const std::string path = UserPath(std::string(folder));
      const SpecFolders more = SpecFoldersBelow(path);
      if (more.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": ", path,
                                                       FileExists(path) ? " has" : " is not there, with",
                                                       " none of methods/, presets/, tasks/, catalog/ and specs/"));
      }
      AddSpecFolders(more, &folders);
    }
  }
  return folders;
}

std::vector<std::string> DataFoldersFromFlags() {
  std::vector<std::string> folders;
  for (absl::string_view folder : absl::StrSplit(absl::GetFlag(FLAGS_data), ',', absl::SkipEmpty())) {
    folders.push_back(std::filesystem::absolute(UserPath(std::string(folder))).string());
  }
  const absl::StatusOr<std::string> runfiles = RunfilesFolder();
  if (runfiles.ok()) folders.push_back(JoinPath(*runfiles, "openset/data/packaged"));
  if (const char* home = std::getenv("HOME"); home != nullptr) {
    folders.push_back(absl::StrCat(home, "/.cache/openset/data"));
  }
  return folders;
}

absl::StatusOr<Devices> DevicesFromFlags() {
  return ChooseDevices(absl::GetFlag(FLAGS_devices), BuiltWithCuda(), [] { return GpuNames(); });
}

absl::StatusOr<ExpandOptions> ExpandOptionsFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, DevicesFromFlags());
  ExpandOptions options;
  options.default_device = devices.default_device;
  options.device_kind = devices.kind;
  return options;
}

absl::StatusOr<std::unique_ptr<Study>> LoadStudy(const std::string& spec) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, StoreFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const ExpandOptions options, ExpandOptionsFromFlags());
  const std::string name = absl::EndsWith(spec, ".textproto") ? UserPath(spec) : spec;
  return Study::Load(name, folders, store, options);
}

std::string SearchText(const Study& study) {
  return absl::StrCat(study.plan().trials.size() - study.ReportedTrials().size(),
                      " of them are candidates of searches; tuned trials after them: ", study.waiting());
}

}  // namespace openset
