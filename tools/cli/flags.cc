#include "tools/cli/flags.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
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
#include "experiments/plan/search.h"
#include "experiments/spec/expand.h"

ABSL_FLAG(std::string, store, "openset-store", "Folder of records, checkpoints, outputs and reports.");
ABSL_FLAG(std::string, library, "",
          "Folder with experiments/specs, experiments/methods, data/tasks and data/catalog to look names up in; empty: "
          "those that come with the program.");
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
  if (const std::string library = absl::GetFlag(FLAGS_library); !library.empty()) {
    return SpecFoldersBelow(UserPath(library));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  return SpecFoldersBelow(JoinPath(runfiles, "openset"));
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

absl::StatusOr<LoadedPlan> LoadPlan(const std::string& spec, const Store& store) {
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
  const std::string name = absl::EndsWith(spec, ".textproto") ? UserPath(spec) : spec;
  OPENSET_ASSIGN_OR_RETURN(Experiment experiment, LoadExperiment(name, folders));
  return PlanOf(std::move(experiment), store);
}

absl::StatusOr<LoadedPlan> PlanOf(Experiment experiment, const Store& store) {
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, DevicesFromFlags());
  ExpandOptions options;
  options.default_device = devices.default_device;
  options.device_kind = devices.kind;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<TrialSpec> written, Expand(experiment, options));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<TrialSearch> searches, ExpandSearches(experiment, written));
  std::vector<TrialSpec> trials, candidates;
  int waiting = 0;
  auto search = searches.begin();
  for (size_t t = 0; t < written.size(); ++t) {
    trials.push_back(written[t]);
    if (search == searches.end() || search->trial != static_cast<int>(t)) continue;
    OPENSET_ASSIGN_OR_RETURN(std::optional<TrialSpec> tuned, TunedTrial(written[t], *search, store));
    if (tuned.has_value()) {
      trials.push_back(*std::move(tuned));
    } else {
      candidates.insert(candidates.end(), search->candidates.begin(), search->candidates.end());
      ++waiting;
    }
    ++search;
  }
  const int reported = static_cast<int>(trials.size());
  trials.insert(trials.end(), candidates.begin(), candidates.end());
  const Catalog& catalog = experiment.catalog;
  // Selections of an expanded trial are in the catalog.
  Plan plan = MakePlan(std::move(trials), store,
                       [&](const Selection& selection) { return CountSamples(selection, catalog).value_or(0); });
  return LoadedPlan{std::move(experiment), std::move(plan), reported, waiting};
}

std::string SearchText(const LoadedPlan& loaded) {
  return absl::StrCat(loaded.plan.trials.size() - loaded.reported,
                      " of them are candidates of searches; tuned trials after them: ", loaded.waiting);
}

}  // namespace openset
