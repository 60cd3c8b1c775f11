#include "tools/cli/flags.h"

#include <optional>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "experiments/plan/search.h"
#include "experiments/spec/expand.h"

ABSL_FLAG(std::string, library, "",
          "Folder with experiments/specs, experiments/methods, data/tasks and data/catalog to look names up in; empty: "
          "those that come with the program.");

namespace openset {

absl::StatusOr<SpecFolders> SpecFoldersFromFlags() {
  if (const std::string library = absl::GetFlag(FLAGS_library); !library.empty()) {
    return SpecFoldersBelow(UserPath(library));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  return SpecFoldersBelow(JoinPath(runfiles, "openset"));
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
