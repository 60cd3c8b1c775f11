#include "tools/cli/flags.h"

#include <unistd.h>

#include <iostream>
#include <memory>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/progress_line.h"
#include "core/status_macros.h"
#include "experiments/plan/halving.h"
#include "experiments/spec/expand.h"
#include "tools/cli/deploy_flags.h"
#include "tools/cli/user_path.h"

ABSL_FLAG(std::string, redo, "",
          "Make results again that are in the store: 'changed' (made by components whose sources are others by now), "
          "'all', the name of a method of the study (what only its trials need), or 'failed' (trainings that failed "
          "start over, instead of going on from their last epoch). With `run` they are removed when it begins; `plan` "
          "shows what it would do.");

namespace openset {

absl::StatusOr<StudyOptions> StudyOptionsFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, DevicesFromFlags());
  StudyOptions options;
  options.expand.default_device = devices.default_device;
  options.expand.device_kind = devices.kind;
  OPENSET_ASSIGN_OR_RETURN(options.data_folders, DataFoldersFromFlags());
  options.redo = absl::GetFlag(FLAGS_redo);
  const auto line = std::make_shared<ProgressLine>("images", isatty(STDERR_FILENO) != 0, &std::cerr);
  options.progress = [line](const std::string& what, int64_t done, int64_t total) { line->Update(what, done, total); };
  return options;
}

absl::StatusOr<std::unique_ptr<Study>> LoadStudy(const std::string& spec) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, StoreFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const StudyOptions options, StudyOptionsFromFlags());
  const std::string name = absl::EndsWith(spec, ".textproto") ? UserPath(spec) : spec;
  return Study::Load(name, folders, store, options);
}

std::string SearchText(const Study& study) {
  std::string text = absl::StrCat(study.plan().trials.size() - study.ReportedTrials().size(),
                                  " of them are candidates of searches; tuned trials after them: ", study.waiting());
  for (const PlannedSearch& planned : study.plan().searches) {
    const TrialSearch& search = planned.search;
    if (search.rungs.empty()) continue;
    const std::vector<size_t> sizes = RungSizes(search);
    std::vector<std::string> rungs;
    for (size_t r = 0; r < sizes.size(); ++r) {
      rungs.push_back(absl::StrCat(sizes[r], " after ", search.rungs[r], search.rungs[r] == 1 ? " epoch" : " epochs"));
    }
    return absl::StrCat(text, "; of each search are measured ", absl::StrJoin(rungs, ", "));
  }
  return text;
}

}  // namespace openset
