#include "experiments/study/study.h"

#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "data/catalog.h"
#include "data/data_set.h"
#include "data/task.pb.h"
#include "experiments/plan/search.h"
#include "experiments/report/published_numbers.h"
#include "experiments/report/significance.h"
#include "experiments/study/check_inputs.h"
#include "experiments/study/source_changes.h"

namespace openset {
namespace {

constexpr char kRedoAll[] = "all";
constexpr char kRedoChanged[] = "changed";
constexpr char kRedoFailed[] = "failed";

// Where the store has the content (DataSetPart.content_sha256) of the data that its last run read.
std::string ContentPath(const Store& store, const std::string& data_set, const std::string& part) {
  return absl::StrCat(store.folder(), "/data/", data_set, "/", part, ".sha256");
}

std::set<std::string> DataSetsOf(const Experiment& experiment) {
  std::set<std::string> names;
  for (const TaskSpec& task : experiment.tasks) {
    names.insert(task.data_set());
    if (task.has_external()) names.insert(task.external().data_set());
    for (const UnknownSource& unknown : task.unknown()) names.insert(unknown.data_set());
    for (const ShiftedSource& shifted : task.shifted()) names.insert(shifted.data_set());
  }
  return names;
}

// Of the data sets that the catalog has no checksums of: by their files or, where these are not here (a report on
// another machine), as the store's last run found them.
absl::Status TellContents(const Store& store, const StudyOptions& options, Experiment* experiment) {
  for (const std::string& name : DataSetsOf(*experiment)) {
    OPENSET_RETURN_IF_ERROR(AddContentDigests(name, options.data_folders, &experiment->catalog, options.progress));
    DataSetInfo* info = experiment->catalog.FindMutable(name);
    if (info == nullptr) continue;
    for (DataSetPart& part : *info->mutable_layout(0)->mutable_part()) {
      if (HasChecksums(part) || part.has_content_sha256()) continue;
      const absl::StatusOr<std::string> last = ReadFile(ContentPath(store, name, part.name()));
      if (last.ok()) part.set_content_sha256(*last);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Study>> Study::Load(const std::string& spec, const SpecFolders& folders,
                                                   const Store& store, const StudyOptions& options) {
  OPENSET_ASSIGN_OR_RETURN(Experiment experiment, LoadExperiment(spec, folders));
  return Make(std::move(experiment), store, options);
}

absl::StatusOr<std::unique_ptr<Study>> Study::Make(Experiment experiment, const Store& store,
                                                   const StudyOptions& options) {
  OPENSET_RETURN_IF_ERROR(TellContents(store, options, &experiment));
  std::unique_ptr<Study> study(new Study(std::move(experiment), store));
  study->redo_ = options.redo;
  OPENSET_RETURN_IF_ERROR(study->PlanAll(options));
  return study;
}

Study::Study(Experiment experiment, const Store& store)
    : experiment_(std::move(experiment)),
      store_(store),
      // Selections of an expanded trial are in the catalog.
      planner_(store, [this](const Selection& selection) {
        return CountSamples(selection, experiment_.catalog).value_or(0);
      }) {}

absl::Status Study::PlanAll(const StudyOptions& options) {
  OPENSET_RETURN_IF_ERROR(CheckRedo());
  OPENSET_ASSIGN_OR_RETURN(std::vector<Trial> trials, Expand(experiment_, options.expand));
  OPENSET_ASSIGN_OR_RETURN(std::vector<TrialSearch> searches, ExpandSearches(experiment_, trials));
  auto search = searches.begin();
  std::vector<std::pair<size_t, TrialSearch>> open;  // places in written_, and their searches
  for (size_t t = 0; t < trials.size(); ++t) {
    Written& written = written_.emplace_back();
    written.trial = planner_.AddTrial(trials[t]);
    if (search == searches.end() || search->trial != static_cast<int>(t)) continue;
    std::optional<Trial> tuned;
    if (redo_.empty()) {  // else its candidates may be made again
      OPENSET_ASSIGN_OR_RETURN(tuned, TunedTrial(trials[t], *search, store_));
    }
    if (tuned.has_value()) {
      written.tuned = planner_.AddTrial(*std::move(tuned));
    } else {
      search->trial = written.trial;
      open.emplace_back(t, std::move(*search));
    }
    ++search;
  }
  for (auto& [place, of_trial] : open) {
    OPENSET_ASSIGN_OR_RETURN(const int choice, planner_.AddSearch(std::move(of_trial), redo_.empty()));
    written_[place].search = plan().nodes[choice].search;
  }
  if (!redo_.empty()) {
    OPENSET_RETURN_IF_ERROR(MarkRedone(0));
    // Where the candidates stay, so does the choice; what it adds may be among what is made again.
    const size_t planned = plan().nodes.size();
    for (size_t n = 0; n < planned; ++n) {
      if (plan().nodes[n].kind != ActionKind::kChoose) continue;
      const std::vector<int>& inputs = plan().nodes[n].inputs;
      if (!absl::c_all_of(inputs, [this](int input) { return plan().nodes[input].done; })) continue;
      OPENSET_RETURN_IF_ERROR(planner_.Choose(static_cast<int>(n)).status());
    }
    OPENSET_RETURN_IF_ERROR(MarkRedone(planned));
  }
  planner_.FindNeeded();
  return absl::OkStatus();
}

absl::Status Study::CheckRedo() const {
  std::vector<std::string> known = {kRedoAll, kRedoChanged, kRedoFailed};
  for (const LoadedMethod& method : experiment_.methods) known.push_back(method.spec.name());
  if (redo_.empty() || absl::c_linear_search(known, redo_)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--redo: ", UnknownName("method", redo_, known)));
}

absl::Status Study::MarkRedone(size_t first) {
  if (redo_.empty() || redo_ == kRedoFailed) return absl::OkStatus();
  SourceChanges changes;
  if (redo_ == kRedoChanged) OPENSET_RETURN_IF_ERROR(AddStored(plan(), store_, first, &changes));
  const auto is_of_method = [this](int t) {
    const std::string& name = plan().trials[t].method().name();
    return name == redo_ || name == absl::StrCat(redo_, kTunedSuffix);
  };
  std::vector<int> nodes;
  for (size_t n = first; n < plan().nodes.size(); ++n) {
    const PlanNode& node = plan().nodes[n];
    const bool redone = redo_ == kRedoAll       ? true
                        : redo_ == kRedoChanged ? changes.keys().count(node.key) > 0
                                                : absl::c_all_of(node.trials, is_of_method);
    if (redone) nodes.push_back(static_cast<int>(n));
  }
  planner_.Redo(nodes);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> Study::Choose(int node) {
  const size_t first = plan().nodes.size();
  OPENSET_ASSIGN_OR_RETURN(std::vector<int> added, planner_.Choose(node));
  if (redo_.empty()) return added;
  OPENSET_RETURN_IF_ERROR(MarkRedone(first));
  OPENSET_RETURN_IF_ERROR(RemoveRedone(first));
  const std::vector<int> more = planner_.FindNeeded();
  added.insert(added.end(), more.begin(), more.end());
  absl::c_sort(added);
  return added;
}

absl::StatusOr<std::vector<std::string>> Study::SourceLines() const {
  SourceChanges changes;
  OPENSET_RETURN_IF_ERROR(AddStored(plan(), store_, 0, &changes));
  return changes.Lines();
}

absl::Status Study::RememberData() const {
  for (const std::string& name : DataSetsOf(experiment_)) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, experiment_.catalog.Find(name));
    for (const DataSetPart& part : info->layout(0).part()) {
      const std::string path = ContentPath(store_, name, part.name());
      if (!part.has_content_sha256() || ReadFile(path).value_or("") == part.content_sha256()) continue;
      OPENSET_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
      OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, part.content_sha256()));
    }
  }
  return absl::OkStatus();
}

absl::Status Study::RemoveRedone(size_t first) const {
  // Records before what they were made of.
  for (auto node = plan().nodes.rbegin(); node != plan().nodes.rend() - first; ++node) {
    if (redo_ == kRedoFailed && node->kind == ActionKind::kTrain && node->needed &&
        store_.CountFailures(node->key) > 0) {
      OPENSET_RETURN_IF_ERROR(store_.Remove(store_.PartialPath(node->key)));
    }
    if (!node->redo) continue;
    switch (node->kind) {
      case ActionKind::kTrain:
        OPENSET_RETURN_IF_ERROR(store_.Remove(store_.CheckpointFolder(node->key)));
        OPENSET_RETURN_IF_ERROR(store_.Remove(store_.PartialPath(node->key)));
        break;
      case ActionKind::kInfer:
        OPENSET_RETURN_IF_ERROR(store_.Remove(store_.OutputsFolder(node->key)));
        break;
      case ActionKind::kEvaluate:
        OPENSET_RETURN_IF_ERROR(store_.Remove(store_.RecordPath(node->key)));
        break;
      case ActionKind::kChoose:
        break;
    }
  }
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

absl::StatusOr<std::unique_ptr<StudyResults>> Study::LoadResults() const {
  auto loaded = std::make_unique<StudyResults>();
  for (const int t : ReportedTrials()) {
    TrialResult result{&loaded->trials.emplace_back(plan().trials[t].Spec()), nullptr};
    absl::StatusOr<TrialRecord> record = store_.LoadRecord(plan().trial_id(t));
    if (record.ok()) {
      result.record = &loaded->records.emplace_back(*std::move(record));
    } else if (!absl::IsNotFound(record.status())) {
      return record.status();
    }
    loaded->results.push_back(result);
  }
  return loaded;
}

Report Study::MakeReport(const StudyResults& results) const {
  Report report = openset::MakeReport(name(), results.results);
  report.waiting = waiting();
  const ReportSpec& shown = experiment_.spec.report();
  report.rows.assign(shown.row().begin(), shown.row().end());
  report.columns.assign(shown.column().begin(), shown.column().end());
  AddPublished(shown, experiment_.published, results.results, &report);
  AddSignificance(shown.baseline(), &report);
  SourceChanges changes;
  for (const TrialRecord& record : results.records) changes.Add(record.provenance());
  for (std::string& line : changes.Lines()) report.note_lines.push_back(std::move(line));
  return report;
}

}  // namespace openset
