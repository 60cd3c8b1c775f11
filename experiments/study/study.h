// A study, from its spec to its report.
//
// The life of a study:
//   1. Load() reads the spec and all that it names, expands it to trials and searches, and plans them, once.
//   2. Run() makes the records that are missing. The choices of searches add the tuned trials to the plan.
//   3. LoadResults() and MakeReport() read the records there are.
#ifndef OPENSET_EXPERIMENTS_STUDY_STUDY_H_
#define OPENSET_EXPERIMENTS_STUDY_STUDY_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/text/progress_line.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/engine_observer.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/plan/plan.h"
#include "experiments/plan/planner.h"
#include "experiments/report/report.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/spec/spec_changes.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/spec/trial.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/record_index.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"
#include "google/protobuf/arena.h"

namespace openset {

struct StudyOptions {
  ExpandOptions expand;
  // Laid over the spec.
  SpecChanges changes;
  // Where data sets that the catalog has no checksums of are looked at: what their files hold is part of the keys.
  // Of those that are not there it is what they held at the store's last run.
  std::vector<std::string> data_folders;
  // Told while files are hashed for that; may be null.
  ProgressReport progress;
  // What is to be made again, though it is in the store: "all"; "changed", what was made by other sources than the
  // components have now (experiments/study/source_changes.h), and what depends on it; "failed", trainings that failed,
  // which then don't go on from where they are; a method of the study, as people call it (core/text/synonyms.h), what
  // only its trials need. "": nothing.
  std::string redo;
  // Which of the records that are not there are made (experiments/study/record_filter.h); "changed" is `redo` of that
  // and nothing else. "": all.
  std::string only;
  // The ids of the records that are made, instead of what `only` says; empty: see there.
  std::set<std::string> only_records;
};

struct RunOptions {
  // Where the data and model files are looked for that the run needs.
  std::vector<std::string> data_folders;
  LeaseOptions lease;
  // Its `leases` are those that the run begins.
  ExecuteOptions execute;
};

// Owns what `results` points at.
struct StudyResults {
  // Records are without TrialRecord.trial, which `results` has.
  std::vector<TrialResult> results;
  std::vector<std::unique_ptr<google::protobuf::Arena>> arenas;
  // Of trials that the store has several records of, which have different numbers: a line each.
  std::vector<std::string> differing;
  // Records that are there and can't be read. They count as missing.
  UnreadRecords unread;
};

class Study {
 public:
  // The study of an experiment by name or path, with what the store has of it. Errors: those of LoadExperiment(),
  // AddContentDigests() (data/sets/data_set.h), Expand(), ExpandSearches(), TunedTrial() and MakeRecordFilter().
  static absl::StatusOr<std::unique_ptr<Study>> Load(const std::string& spec, const SpecFolders& folders,
                                                     const Store& store, const StudyOptions& options = {});
  // That of an experiment that was made or read already.
  static absl::StatusOr<std::unique_ptr<Study>> Make(Experiment experiment, const Store& store,
                                                     const StudyOptions& options = {});

  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  const std::string& name() const { return experiment_.spec.name(); }
  // Under which its reports are stored: the name, and behind it a mark of what the command line laid over it.
  std::string report_name() const;
  const Experiment& experiment() const { return experiment_; }
  const Store& store() const { return store_; }
  // It grows by Choose(): numbers of trials and ids of actions stay what they are, references to them don't.
  const Plan& plan() const { return planner_.plan(); }

  // The trials of tables in their order: each as it is written and, where the choice is made, as it is tuned. The
  // other trials of the plan are candidates.
  std::vector<int> ReportedTrials() const;
  // How many tuned trials are not in the plan yet, because their search has to be run first.
  int waiting() const;

  // Lines about what was made by components whose sources are others by now (SourceChanges). Errors: those of reading
  // records.
  absl::StatusOr<std::vector<std::string>> SourceLines() const;

  // Makes the records that are missing. Before: checks that the files that it needs are there, creates the store, moves
  // damaged results to quarantine/, removes what is to be made again, and keeps in the store what the files of data
  // sets without checksums hold and which spec the reports are of. Then the observer's OnBegin(), and the plan is
  // executed beside the other processes that run on the store. Errors: those of experiments/study/check_inputs.h,
  // before anything is written; those of writing, and of ExecutePlan(); kInvalidArgument if no trial has a result
  // because a model could not be imported.
  absl::Status Run(RunOptions options, Engine* engine, EngineObserver* observer);

  // Keeps in the store what the files of data sets without checksums hold, so that its results are found where the
  // files are not. Errors: those of writing.
  absl::Status RememberData() const;

  // What is to be said first of data sets whose images are not here (TellContents() in
  // experiments/study/data_contents.h): lines. `untold_data` has the parts whose results can't be found.
  const std::vector<std::string>& data_lines() const { return data_lines_; }
  const std::vector<std::string>& untold_data() const { return untold_data_; }

  // What of the store's results that this study needs is damaged, in the order of the plan: "PATH: ...". They count as
  // missing.
  std::vector<std::string> Damaged() const;
  // Moves those to the store's quarantine, so that they are made again. Returns a line each. Errors: those of
  // Store::Quarantine().
  absl::StatusOr<std::vector<std::string>> QuarantineDamaged();

  // Removes what is to be made again (StudyOptions.redo) from the store. Errors: those of Store::Remove().
  absl::Status RemoveRedone() const { return RemoveRedone(0); }

  // Makes a choice, whose candidates all have records; the tuned trial's missing actions are needed now. Returns these,
  // inputs first. Errors: those of Planner::Choose(), and of RemoveRedone().
  absl::StatusOr<std::vector<ActionId>> Choose(ActionId choice);

  // The reported trials with the records there are; one that is damaged counts as missing, and of several of one trial
  // (experiments/store/merge.h) the first made stands for it. Errors:
  // kFailedPrecondition for one of another schema version.
  absl::StatusOr<std::unique_ptr<StudyResults>> LoadResults() const;
  Report MakeReport(const StudyResults& results) const;

 private:
  Study(Experiment experiment, const Store& store);

  absl::Status PlanAll(const StudyOptions& options);
  // Sets what is to be made again (StudyOptions.redo). Errors: kInvalidArgument for what is no method of the study.
  absl::Status SetRedo(const std::string& redo);
  absl::Status CheckReportName() const;
  absl::Status RememberSpec() const;
  // What comes before a run. Returns what was moved to quarantine/.
  absl::StatusOr<std::vector<std::string>> Prepare(const std::vector<std::string>& data_folders);
  // The outcome of a run of the whole plan: why a model could not be imported, where no trial has a result.
  absl::Status Explained(const absl::Status& outcome) const;
  // Marks the actions from this one on that are to be made again, and removes what the store has of them.
  absl::Status MarkRedone(size_t first);
  absl::Status RemoveRedone(size_t first) const;

  // A trial of the spec, and what became of the search for its values.
  struct Written {
    int trial;
    int search = -1;  // its place in Plan.searches, where the choice was not made when the study was planned
    int tuned = -1;   // the tuned trial, where it was
  };
  int TunedOf(const Written& written) const;
  // Whether all that the trial's missing evaluation reads is there, and it has not failed.
  bool LacksOnlyEvaluation(int trial) const;

  const Experiment experiment_;
  const Store store_;
  mutable RecordIndex index_;
  Planner planner_;
  std::string redo_;
  std::vector<std::string> data_lines_, untold_data_;
  std::vector<Written> written_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_STUDY_H_
