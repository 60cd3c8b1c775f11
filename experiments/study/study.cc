#include "experiments/study/study.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/in_parallel.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "data/catalog.h"
#include "data/splits/repeated_splits.h"
#include "experiments/action/stage.h"
#include "experiments/plan/search.h"
#include "experiments/report/power_plan.h"
#include "experiments/report/published_numbers.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/check_spec.h"
#include "experiments/store/merge.h"
#include "experiments/store/processes/orphans.h"

namespace openset {
namespace {

constexpr char kFile[] = "spec.textproto";
constexpr int64_t kMostBytes = 1 << 20;

std::string TextOf(const Experiment& experiment) {
  // A study that `openset score` made is in no file.
  const std::string text = ReadFile(experiment.source.file(), kMaxTextBytes).value_or(ToText(experiment.spec));
  ExperimentSpec written;
  if (experiment.overrides.empty() || !ParseTextProto(text, experiment.source.file(), &written).ok()) return text;
  std::string changed;
  for (const SpecLine& line : ChangedSpecLines(written, experiment.spec, experiment.overrides)) {
    absl::StrAppend(&changed, line.text, "\n");
  }
  return changed;
}

// The folder of the study's reports; "" if it has none. Errors: kDataLoss if the store's `reports` is not a folder; a
// read failure (IsReadFailure()).
absl::StatusOr<std::string> FolderOf(const Store& store, const std::string& study) {
  const std::string plain = store.ReportFolder(study);
  struct stat info;
  // If it can't be looked at, reading it gives the error.
  if (StatFile(JoinPath(plain, kFile), &info) == 0 || (errno != ENOENT && errno != ENOTDIR)) return plain;
  std::string newest;
  std::pair<int64_t, int64_t> newest_time;
  const std::string reports = JoinPath(store.folder(), "reports");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesInFolder(reports));
  for (const std::string& name : names) {
    const std::string folder = JoinPath(reports, name);
    if (!absl::StartsWith(name, study + "+") || StatFile(JoinPath(folder, kFile), &info) != 0) continue;
    const std::pair<int64_t, int64_t> time(info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    if (!newest.empty() && time <= newest_time) continue;
    newest = folder;
    newest_time = time;
  }
  return newest;
}

}  // namespace

absl::Status KeepSpec(const Experiment& experiment, const Store& store, const std::string& report_name) {
  const std::string folder = store.ReportFolder(report_name);
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  return WriteFileAtomically(JoinPath(folder, kFile), TextOf(experiment));
}

absl::StatusOr<KeptSpec> LoadKeptSpec(const Store& store, const std::string& study) {
  KeptSpec kept;
  if (!IsName(study)) return kept;  // a name from a record could be a path
  OPENSET_ASSIGN_OR_RETURN(const std::string folder, FolderOf(store, study));
  if (folder.empty()) return kept;
  const absl::StatusOr<std::string> text = ReadFile(JoinPath(folder, kFile), kMostBytes);
  if (IsReadFailure(text.status())) return text.status();
  kept.text = text.value_or("");
  if (!ParseTextProto(kept.text, kFile, &kept.spec).ok() || kept.spec.method_size() == 0) return KeptSpec();
  return kept;
}

namespace {

constexpr size_t kLargestBlock = 1 << 18;  // of an arena, in bytes

}  // namespace

std::unique_ptr<StudyResults> LoadStudyResults(const Plan& plan, const std::vector<int>& reported, const Store& store) {
  constexpr int64_t kRange = 256;
  constexpr int kWithout[] = {TrialRecord::kTrialFieldNumber};
  auto loaded = std::make_unique<StudyResults>();
  const auto count = static_cast<int64_t>(reported.size());
  loaded->results.resize(count);
  loaded->arenas.resize((count + kRange - 1) / kRange);
  std::vector<absl::Status> read(count);
  std::vector<TrialRecord*> records(count);
  InParallelWaitingRanges(count, kRange, [&](int64_t from, int64_t to) {
    google::protobuf::ArenaOptions options;
    options.max_block_size = kLargestBlock;
    auto& arena = loaded->arenas[from / kRange] = std::make_unique<google::protobuf::Arena>(options);
    SharedTrialSpecs specs(arena.get());
    for (int64_t i = from; i < to; ++i) {
      loaded->results[i].trial = specs.Add(plan.trials[reported[i]]);
      records[i] = google::protobuf::Arena::CreateMessage<TrialRecord>(arena.get());
      read[i] = store.LoadRecord(plan.trial_id(reported[i]), kWithout, records[i]);
    }
  });
  const std::vector<std::string> replicas = ReplicaIds(store, &loaded->unread);
  const std::set<std::string> has_replicas(replicas.begin(), replicas.end());
  for (int64_t i = 0; i < count; ++i) {
    if (!read[i].ok()) {
      loaded->unread.Add(read[i]);
      continue;
    }
    loaded->results[i].record = records[i];
    const std::string& id = plan.trial_id(reported[i]);
    if (has_replicas.count(id) == 0) continue;
    const absl::StatusOr<std::vector<TrialRecord>> all = LoadReplicas(store, id);
    if (!all.ok()) {
      loaded->unread.Add(all.status());
      loaded->results[i].record = nullptr;
      continue;
    }
    const std::vector<std::string> lines = DifferenceLines(*all);
    if (!lines.empty()) {
      loaded->differing.push_back(absl::StrCat(Describe(plan.trials[reported[i]]), ": ", absl::StrJoin(lines, "; ")));
    }
    *records[i] = (*all)[0];
    records[i]->clear_trial();
  }
  return loaded;
}

namespace {

constexpr char kOnlyFailed[] = "failed";
constexpr char kOnlyMissing[] = "missing";

// Whether `failed`, sorted keys, has the key of the action or of one that it waits for.
bool HasFailed(const std::vector<std::string>& failed, const Plan& plan, const Action& action) {
  if (action.is_done()) return false;
  return absl::c_binary_search(failed, action.key) ||
         absl::c_any_of(action.inputs, [&](ActionId input) { return HasFailed(failed, plan, plan[input]); });
}

}  // namespace

absl::StatusOr<RecordFilter> MakeRecordFilter(const std::string& only, const Store& store) {
  if (only.empty()) return RecordFilter();
  if (only == kOnlyChanged) {
    return RecordFilter([](const Plan& plan, const Action& action) { return plan.redone.count(action.id) > 0; });
  }
  if (only != kOnlyFailed && only != kOnlyMissing) {
    return absl::InvalidArgumentError(
        absl::StrCat("--only: ", UnknownName("word", only, {kOnlyFailed, kOnlyMissing, kOnlyChanged})));
  }
  OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> keys, store.KeysOfFailures());
  const auto failed = std::make_shared<const std::vector<std::string>>(std::move(keys));
  const bool wants_failed = only == kOnlyFailed;
  return RecordFilter([failed, wants_failed](const Plan& plan, const Action& action) {
    return !action.is_done() && HasFailed(*failed, plan, action) == wants_failed;
  });
}

namespace {

constexpr char kRedoAll[] = "all", kRedoChanged[] = "changed", kRedoFailed[] = "failed";
constexpr char kSpecFile[] = "spec";

}  // namespace

absl::StatusOr<std::unique_ptr<Study>> Study::Load(const std::string& spec, const SpecFolders& folders,
                                                   const Store& store, const StudyOptions& options) {
  OPENSET_ASSIGN_OR_RETURN(Experiment experiment, LoadExperiment(spec, folders, options.changes));
  return Make(std::move(experiment), store, options);
}

absl::StatusOr<std::unique_ptr<Study>> Study::Make(Experiment experiment, const Store& store,
                                                   const StudyOptions& options) {
  OPENSET_RETURN_IF_ERROR(CheckTags(options.changes.tag));
  experiment.tags = options.changes.tag;
  OPENSET_RETURN_IF_ERROR(PrepareUntil(&experiment));
  OPENSET_ASSIGN_OR_RETURN(ResolvedContents contents,
                           ResolveContentDigests(store, options.data_folders, options.progress, experiment.tasks,
                                                 experiment.spec.name(), &experiment.catalog));
  std::unique_ptr<Study> study(new Study(std::move(experiment), store));
  study->data_folders_ = options.data_folders;
  study->contents_ = std::move(contents);
  OPENSET_RETURN_IF_ERROR(study->PlanAll(options));
  return study;
}

Study::Study(Experiment experiment, const Store& store)
    : experiment_(std::move(experiment)),
      store_(store),
      // Selections of an expanded trial are in the catalog.
      planner_(
          store,
          [this](const Selection& selection) { return CountSamples(selection, experiment_.catalog).value_or(0); },
          [this](const std::string& id, const Provenance& provenance) { changes_.Add(id, provenance); }) {}

absl::Status Study::PlanAll(const StudyOptions& options) {
  OPENSET_RETURN_IF_ERROR(CheckReportName());
  if (options.only == kOnlyChanged && !options.redo.empty() && options.redo != kRedoChanged) {
    return absl::InvalidArgumentError("--only=changed already implies --redo=changed; remove --redo");
  }
  OPENSET_RETURN_IF_ERROR(SetRedo(options.only == kOnlyChanged ? kRedoChanged : options.redo));
  OPENSET_ASSIGN_OR_RETURN(RecordFilter wanted, MakeRecordFilter(options.only, store_));
  if (!options.only_records.empty()) {
    wanted = [ids = options.only_records](const Plan&, const Action& action) { return ids.count(action.key) > 0; };
  }
  planner_.NeedOnly(std::move(wanted));
  std::vector<Trial> trials;
  std::vector<TrialSearch> searches;
  int64_t most_trials = 0;  // as written and as tuned
  if (experiment_.spec.has_until()) {
    OPENSET_ASSIGN_OR_RETURN(UntilTrials all, ExpandUntil(options.expand, &experiment_));
    OPENSET_ASSIGN_OR_RETURN(until_, ReplayUntil(experiment_, all, MetricInStore(experiment_.spec.until(), store_)));
    for (const int t : until_->trials) trials.push_back(all.trials[t]);
    for (const int s : until_->searches) {
      TrialSearch& search = searches.emplace_back(std::move(all.searches[s]));
      search.trial = static_cast<int>(absl::c_lower_bound(until_->trials, search.trial) - until_->trials.begin());
    }
    most_trials = until_->report.most_trials;
  } else {
    OPENSET_ASSIGN_OR_RETURN(trials, Expand(experiment_, options.expand));
    OPENSET_ASSIGN_OR_RETURN(searches, ExpandSearches(experiment_, trials, options.expand.max_trials));
    most_trials = static_cast<int64_t>(trials.size() + searches.size());
  }
  OPENSET_RETURN_IF_ERROR(CheckExpectedTrials(experiment_, most_trials));
  std::vector<Trial> planned;
  planned.reserve(trials.size());
  const auto plan_trial = [&planned](Trial trial) {
    planned.push_back(std::move(trial));
    return static_cast<int>(planned.size()) - 1;
  };
  auto search = searches.begin();
  std::vector<std::pair<size_t, TrialSearch>> open;  // indices in written_, and their searches
  for (size_t t = 0; t < trials.size(); ++t) {
    Written& written = written_.emplace_back();
    written.trial = plan_trial(trials[t]);
    if (search == searches.end() || search->trial != static_cast<int>(t)) continue;
    std::optional<Trial> tuned;
    if (redo_.empty()) {  // otherwise its candidates may run again
      absl::StatusOr<std::optional<Trial>> found = TunedTrial(trials[t], *search, store_);
      if (absl::IsFailedPrecondition(found.status())) {
        // The other results stay readable; a run makes the choice again, and reports its failure.
        undecided_.emplace_back(found.status().message());
        search->undefined = absl::OkStatus();
      } else {
        OPENSET_ASSIGN_OR_RETURN(tuned, std::move(found));
      }
    }
    if (!tuned.has_value()) OPENSET_RETURN_IF_ERROR(search->undefined);
    if (tuned.has_value()) {
      written.tuned = plan_trial(*std::move(tuned));
    } else {
      search->trial = written.trial;
      open.emplace_back(t, std::move(*search));
    }
    ++search;
  }
  planner_.AddTrials(std::move(planned));
  for (auto& [place, of_trial] : open) {
    OPENSET_ASSIGN_OR_RETURN(const ActionId choice, planner_.AddSearch(std::move(of_trial), redo_.empty()));
    written_[place].search = plan()[choice].search;
  }
  if (!redo_.empty()) OPENSET_RETURN_IF_ERROR(RedoSearches());
  planner_.FindNeeded();
  return absl::OkStatus();
}

absl::Status Study::RedoSearches() {
  size_t marked = 0;
  for (size_t a = 0; a < plan().actions.size(); ++a) {
    if (a == marked) {
      marked = plan().actions.size();
      MarkRedone(a);
    }
    const Action& action = plan().actions[a];
    if (action.kind != ActionKind::kChoose || action.is_done()) continue;
    if (!absl::c_all_of(action.inputs, [this](ActionId input) { return plan()[input].is_done(); })) continue;
    const absl::Status chosen = planner_.Choose(action.id).status();
    // A candidate's record is corrupt: FindNeeded() finds it. Or no candidate is the best: the run says so.
    if (!absl::IsNotFound(chosen) && !absl::IsFailedPrecondition(chosen)) OPENSET_RETURN_IF_ERROR(chosen);
  }
  return absl::OkStatus();
}

std::vector<std::string> Study::Damaged() const {
  std::vector<std::string> lines;
  for (const auto& [id, damage] : plan().damaged) lines.push_back(damage);
  return lines;
}

std::vector<std::string> Study::Unreadable() const {
  std::vector<std::string> lines;
  for (const auto& [id, problem] : plan().unreadable) lines.push_back(problem);
  return lines;
}

absl::StatusOr<std::vector<std::string>> Study::QuarantineDamaged() {
  std::vector<std::string> lines;
  for (const auto& [id, damage] : plan().damaged) {
    const Action& action = plan()[id];
    const absl::StatusOr<std::string> folder = StageOf(action).Quarantine(store_, action.key, damage);
    if (absl::IsNotFound(folder.status())) continue;  // another process has removed it
    OPENSET_RETURN_IF_ERROR(folder.status());
    lines.push_back(absl::StrCat(damage, "; moved to ", *folder));
  }
  planner_.ForgetDamage();
  return lines;
}

std::string Study::report_name() const { return VariantName(name(), experiment_.overrides); }

// The file has two lines: the path of the spec, and the SHA-256 of its file.
absl::Status Study::CheckReportName() const {
  const std::string kept = JoinPath(store_.ReportFolder(report_name()), kSpecFile);
  const absl::StatusOr<std::string> content = ReadFile(kept, kMaxTextBytes);
  if (IsReadFailure(content.status())) return content.status();
  const std::vector<std::string> lines = absl::StrSplit(content.value_or(""), '\n');
  if (lines.size() < 2 || lines[0] == AbsolutePath(experiment_.source.file())) return absl::OkStatus();
  // The name is free if the other file is a copy of this one, no longer exists, or now contains a study of another
  // name.
  if (lines[1] == experiment_.sha256) return absl::OkStatus();
  ExperimentSpec other;
  if (!ReadTextProto(lines[0], &other, Completeness::kPartial).ok() || other.name() != name()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(experiment_.source.Where("name"), ": the store ", store_.folder(),
                                                 " has reports of another study '", name(), "', ", lines[0],
                                                 ": rename this study, or use another store (--store)"));
}

absl::Status Study::RememberSpec() const {
  if (experiment_.sha256.empty()) return absl::OkStatus();
  const std::string folder = store_.ReportFolder(report_name());
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  // The reports are written at the end; better refuse a link now.
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> files, ListFolder(folder));
  for (const std::string& file : files) OPENSET_RETURN_IF_ERROR(CheckNoLink(JoinPath(folder, file)));
  OPENSET_RETURN_IF_ERROR(
      WriteFileAtomically(JoinPath(folder, kSpecFile),
                          absl::StrCat(AbsolutePath(experiment_.source.file()), "\n", experiment_.sha256, "\n")));
  return KeepSpec(experiment_, store_, report_name());
}

absl::Status Study::SetRedo(const std::string& redo) {
  if (redo.empty()) return absl::OkStatus();
  std::vector<std::string> known = {kRedoAll, kRedoChanged, kRedoFailed};
  for (const LoadedMethod& method : experiment_.methods) known.push_back(method.spec.name());
  const std::optional<std::string> meant = ResolveSynonym(redo, known);
  if (!meant.has_value())
    return absl::InvalidArgumentError(absl::StrCat("--redo: ", UnknownName("method", redo, known)));
  redo_ = *meant;
  return absl::OkStatus();
}

void Study::MarkRedone(size_t first) {
  if (redo_.empty() || redo_ == kRedoFailed) return;
  if (redo_ == kRedoChanged) {
    planner_.CheckRecords();
    AddWithoutRecord(plan(), store_, first, &changes_);
  }
  const auto is_of_method = [this](int t) {
    const std::string& name = plan().trials[t].method().name();
    return name == redo_ || name == absl::StrCat(redo_, kTunedSuffix);
  };
  std::vector<ActionId> actions;
  for (size_t a = first; a < plan().actions.size(); ++a) {
    const Action& action = plan().actions[a];
    const bool redone = redo_ == kRedoAll       ? true
                        : redo_ == kRedoChanged ? changes_.keys().count(action.key) > 0
                                                : absl::c_all_of(action.trials, is_of_method);
    if (redone) actions.push_back(action.id);
  }
  planner_.Redo(actions);
  for (const ActionId id : plan().redone) changes_.Forget(plan()[id].key);
}

absl::StatusOr<std::vector<ActionId>> Study::Choose(ActionId choice) {
  const size_t first = plan().actions.size();
  OPENSET_ASSIGN_OR_RETURN(std::vector<ActionId> added, planner_.Choose(choice));
  OPENSET_RETURN_IF_ERROR(QuarantineDamaged().status());
  if (redo_.empty()) return added;
  MarkRedone(first);
  OPENSET_RETURN_IF_ERROR(RemoveRedone(first));
  const std::vector<ActionId> more = planner_.FindNeeded();
  added.insert(added.end(), more.begin(), more.end());
  absl::c_sort(added);
  return added;
}

std::vector<std::string> Study::SourceLines() const {
  AddWithoutRecord(plan(), store_, 0, &changes_);
  return changes_.Lines();
}

absl::Status Study::RecordContents() const { return RememberContents(store_, experiment_); }

absl::Status Study::RemoveRedone(size_t first) const {
  // In reverse order, so that records are removed before their inputs.
  for (auto action = plan().actions.rbegin(); action != plan().actions.rend() - first; ++action) {
    const Stage& stage = StageOf(*action);
    if (redo_ == kRedoFailed && stage.SavesState() && action->is_needed()) {
      OPENSET_ASSIGN_OR_RETURN(const int failures, store_.CountFailures(action->key));
      if (failures > 0) OPENSET_RETURN_IF_ERROR(stage.RemoveSavedState(store_, action->key));
    }
    if (plan().redone.count(action->id) > 0) OPENSET_RETURN_IF_ERROR(stage.Remove(store_, action->key));
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

absl::StatusOr<std::vector<std::string>> Study::Prepare() {
  // Tuned trials that are added later read the same files as the trials that they are made from.
  OPENSET_RETURN_IF_ERROR(CheckInputs(plan(), experiment_.catalog, data_folders_));
  OPENSET_RETURN_IF_ERROR(store_.Make());
  SweepTemporaries(store_);
  OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> quarantined, QuarantineDamaged());
  OPENSET_RETURN_IF_ERROR(RecordContents());
  contents_.changed.clear();  // these images are the store's now
  OPENSET_RETURN_IF_ERROR(RememberSpec());
  OPENSET_RETURN_IF_ERROR(RemoveRedone());
  return quarantined;
}

absl::Status Study::Run(ExecuteOptions options, Engine* engine, EngineObserver* observer) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> quarantined, Prepare());
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Leases> leases,
                           Leases::Begin(store_, {absl::Seconds(options.deploy.lease_seconds())}));
  std::vector<RunState> others;
  for (RunState& run : RunsOf(store_)) {
    const bool is_ours = run.id() == leases->run_id();
    if (!is_ours && IsRunOf(run, name(), experiment_.overrides)) others.push_back(std::move(run));
  }
  observer->OnBegin(quarantined, others);
  options.leases = leases.get();
  const absl::Status outcome = ExecutePlan(
      plan(), [this](ActionId choice) { return Choose(choice); }, store_, options, engine, observer);
  if (outcome.ok() && !plan().unreadable.empty()) return absl::AbortedError(UnreadableText(Unreadable()));
  return options.idle_timeout.has_value() ? outcome : WithReason(outcome);
}

absl::Status Study::WithReason(const absl::Status& outcome) const {
  if (!absl::IsAborted(outcome)) return outcome;
  for (const int trial : ReportedTrials()) {
    if (store_.HasRecord(plan().trial_id(trial)).value_or(true)) return outcome;
  }
  for (const Action& action : plan().actions) {
    if (action.role != ActionRole::kImport || !action.is_needed()) continue;
    if (plan().IsInStore(action, store_).value_or(true)) continue;
    const absl::StatusOr<FailureRecord> failure = store_.LoadFailure(action.key);
    if (failure.ok()) return absl::InvalidArgumentError(absl::StrCat("the model: ", failure->message()));
  }
  return outcome;
}

std::vector<std::string> Study::UndecidedLines() const {
  if (undecided_.empty()) return {};
  const size_t others = undecided_.size() - 1;
  return {absl::StrCat(
      "No tuned trial: ", undecided_[0], "; choose by another criterion, or with other validation data.",
      others > 0 ? absl::StrCat(" The same holds for ", others, others > 1 ? " other searches." : " other search.")
                 : "")};
}

std::unique_ptr<StudyResults> Study::LoadResults() const { return LoadStudyResults(plan(), ReportedTrials(), store_); }

bool Study::LacksOnlyEvaluation(int trial) const {
  const Action& action = plan()[plan().evaluations[trial]];
  return !action.is_done() && plan().damaged.count(action.id) == 0 && !action.inputs.empty() &&
         store_.CountFailures(action.key).value_or(1) == 0 &&
         absl::c_all_of(action.inputs, [this](ActionId input) { return plan()[input].is_done(); });
}

std::vector<std::string> Study::RepeatLines() const {
  std::map<std::string, std::vector<int>> used;
  for (const int t : ReportedTrials()) used[plan().trials[t].task()].push_back(plan().trials[t].split());
  std::vector<std::string> lines;
  for (const TaskSpec& task : experiment_.tasks) {
    if (used.count(task.name()) == 0) continue;
    absl::StatusOr<std::vector<std::string>> of_task = RepeatTexts(task, used[task.name()], experiment_.catalog);
    if (!of_task.ok()) continue;  // an expanded task has its splits
    for (std::string& line : *of_task) lines.push_back(std::move(line));
  }
  return lines;
}

Report Study::MakeReport(const StudyResults& results) const {
  Report report = openset::MakeReport(name(), results.results);
  report.waiting = waiting();
  report.data_lines = contents_.lines;
  for (const std::string& line : contents_.changed) report.data_lines.push_back(line);
  for (std::string& line : RepeatLines()) report.data_lines.push_back(std::move(line));
  for (std::string& line : UndecidedLines()) report.data_lines.push_back(std::move(line));
  const std::vector<int> reported = ReportedTrials();
  for (size_t i = 0; i < results.results.size() && i < reported.size(); ++i) {
    if (results.results[i].record == nullptr) report.unevaluated += LacksOnlyEvaluation(reported[i]);
  }
  const ReportSpec& shown = experiment_.spec.report();
  report.rows.assign(shown.row().begin(), shown.row().end());
  report.columns.assign(shown.column().begin(), shown.column().end());
  AddPublished(shown, experiment_.published, results.results, &report);
  if (until_.has_value()) {
    report.baseline = until_->report.baseline;
    report.until = until_->report;
    report.until->cpu_seconds = CpuSecondsOf(results.results);
  } else {
    AddSignificance(shown.baseline(), &report);
  }
  for (const std::string& line : SameMethodLines(plan())) report.note_lines.push_back(line);
  for (const std::string& line : results.differing) report.note_lines.push_back(line);
  for (const std::string& line : results.unread.VersionLines()) report.note_lines.push_back(line);
  if (const size_t damaged = results.unread.damaged.size(); damaged > 0) {
    report.note_lines.push_back(absl::StrCat(
        damaged, damaged == 1 ? " record is" : " records are", " corrupt and left out; `openset run` makes ",
        damaged == 1 ? "it" : "them", " again: ", absl::StrJoin(results.unread.damaged, "; ")));
  }
  if (!results.unread.unreadable.empty()) report.note_lines.push_back(UnreadableText(results.unread.unreadable));
  SourceChanges changes;
  for (const TrialResult& result : results.results) {
    if (result.record != nullptr) changes.Add(result.record->trial_id(), result.record->provenance());
  }
  for (std::string& line : changes.Lines()) report.note_lines.push_back(std::move(line));
  return report;
}

}  // namespace openset
