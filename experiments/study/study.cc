#include "experiments/study/study.h"

#include <deque>
#include <optional>
#include <utility>

#include "core/status_macros.h"
#include "data/data_set.h"
#include "experiments/plan/search.h"
#include "experiments/study/check_inputs.h"

namespace openset {

absl::StatusOr<std::unique_ptr<Study>> Study::Load(const std::string& spec, const SpecFolders& folders,
                                                   const Store& store, const StudyOptions& options) {
  OPENSET_ASSIGN_OR_RETURN(Experiment experiment, LoadExperiment(spec, folders));
  return Make(std::move(experiment), store, options);
}

absl::StatusOr<std::unique_ptr<Study>> Study::Make(Experiment experiment, const Store& store,
                                                   const StudyOptions& options) {
  for (const TaskSpec& task : experiment.tasks) {
    OPENSET_RETURN_IF_ERROR(AddContentDigests(task.data_set(), options.data_folders, &experiment.catalog));
    OPENSET_RETURN_IF_ERROR(AddContentDigests(task.external().data_set(), options.data_folders, &experiment.catalog));
    for (const UnknownSource& unknown : task.unknown()) {
      OPENSET_RETURN_IF_ERROR(AddContentDigests(unknown.data_set(), options.data_folders, &experiment.catalog));
    }
  }
  std::unique_ptr<Study> study(new Study(std::move(experiment), store));
  OPENSET_RETURN_IF_ERROR(study->PlanAll(options.expand));
  return study;
}

Study::Study(Experiment experiment, const Store& store)
    : experiment_(std::move(experiment)),
      store_(store),
      // Selections of an expanded trial are in the catalog.
      planner_(store, [this](const Selection& selection) {
        return CountSamples(selection, experiment_.catalog).value_or(0);
      }) {}

absl::Status Study::PlanAll(const ExpandOptions& options) {
  OPENSET_ASSIGN_OR_RETURN(std::vector<Trial> trials, Expand(experiment_, options));
  OPENSET_ASSIGN_OR_RETURN(std::vector<TrialSearch> searches, ExpandSearches(experiment_, trials));
  auto search = searches.begin();
  std::vector<std::pair<size_t, TrialSearch>> open;  // places in written_, and their searches
  for (size_t t = 0; t < trials.size(); ++t) {
    Written& written = written_.emplace_back();
    written.trial = planner_.AddTrial(trials[t]);
    if (search == searches.end() || search->trial != static_cast<int>(t)) continue;
    OPENSET_ASSIGN_OR_RETURN(std::optional<Trial> tuned, TunedTrial(trials[t], *search, store_));
    if (tuned.has_value()) {
      written.tuned = planner_.AddTrial(*std::move(tuned));
    } else {
      search->trial = written.trial;
      open.emplace_back(t, std::move(*search));
    }
    ++search;
  }
  for (auto& [place, of_trial] : open) {
    written_[place].search = planner_.plan().nodes[planner_.AddSearch(std::move(of_trial))].search;
  }
  planner_.FindNeeded();
  return absl::OkStatus();
}

int Study::TunedOf(const Written& written) const {
  return written.search >= 0 ? plan().searches[written.search].tuned : written.tuned;
}

std::vector<int> Study::ReportedTrials() const {
  std::vector<int> trials;
  for (const Written& written : written_) {
    trials.push_back(written.trial);
    if (const int tuned = TunedOf(written); tuned >= 0) trials.push_back(tuned);
  }
  return trials;
}

int Study::waiting() const {
  int waiting = 0;
  for (const PlannedSearch& search : plan().searches) waiting += search.tuned < 0;
  return waiting;
}

absl::Status Study::CheckInputs(const std::vector<std::string>& data_folders) const {
  return openset::CheckInputs(plan(), experiment_.catalog, data_folders);
}

absl::StatusOr<Report> Study::MakeReport() const {
  std::deque<TrialRecord> records;  // keep addresses
  std::deque<TrialSpec> trials;
  std::vector<TrialResult> results;
  for (const int t : ReportedTrials()) {
    TrialResult result{&trials.emplace_back(plan().trials[t].Spec()), nullptr};
    absl::StatusOr<TrialRecord> record = store_.LoadRecord(plan().trial_id(t));
    if (record.ok()) {
      result.record = &records.emplace_back(*std::move(record));
    } else if (!absl::IsNotFound(record.status())) {
      return record.status();
    }
    results.push_back(result);
  }
  Report report = openset::MakeReport(name(), results);
  report.waiting = waiting();
  return report;
}

}  // namespace openset
