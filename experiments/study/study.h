// A study as one object: its spec, its plan, its records and its report.
#ifndef OPENSET_EXPERIMENTS_STUDY_STUDY_H_
#define OPENSET_EXPERIMENTS_STUDY_STUDY_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/text/terminal.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/plan/plan.h"
#include "experiments/plan/planner.h"
#include "experiments/report/report.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/spec/spec_changes.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/spec/trial.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"
#include "experiments/study/check_inputs.h"
#include "experiments/study/source_changes.h"
#include "experiments/study/until.h"
#include "google/protobuf/arena.h"

namespace openset {

// The store keeps the spec of each study as it was last run, next to its reports, for readers who only have the store.

// Writes the spec to reports/REPORT_NAME/spec.textproto: the text of its file or, if the command line changed it, the
// lines of ChangedSpecLines(). Errors: a write error (core/files/files.h).
absl::Status KeepSpec(const Experiment& experiment, const Store& store, const std::string& report_name);

struct KeptSpec {
  std::string text;
  ExperimentSpec spec;  // empty if the text is not one
};

// The spec as it was run without changes by the command line or, if there was no such run, as it was run last. Empty if
// there is none, if it is no spec, or if it is larger than 1 MiB. Errors: a read failure (IsReadFailure() in
// experiments/store/store.h); kDataLoss if the folder of reports is not a folder.
absl::StatusOr<KeptSpec> LoadKeptSpec(const Store& store, const std::string& study);

// ---- The records of a study's trials.

// Owns everything that `results` points to.
struct StudyResults {
  // The records lack TrialRecord.trial; TrialResult has the trial.
  std::vector<TrialResult> results;
  std::vector<std::unique_ptr<google::protobuf::Arena>> arenas;
  // A line for each trial with several records in the store whose numbers differ.
  std::vector<std::string> differing;
  // Records that exist but are corrupt or can't be read now, and folders of replicas. They count as missing.
  UnreadRecords unread;
};

// Reads the records of the `reported` trials of the plan. A record that is corrupt or of another schema version counts
// as missing. If a trial has several records (experiments/store/merge.h), the oldest one is used.
std::unique_ptr<StudyResults> LoadStudyResults(const Plan& plan, const std::vector<int>& reported, const Store& store);

// ---- Which of a study's missing records a run makes (`openset run --only=...`).

inline constexpr char kOnlyChanged[] = "changed";

// "failed":  records with a failed action: the store has its last attempt, and it has not succeeded since.
// "missing": records without a failed action.
// "changed": records whose stored results are to be made again (Plan.redone).
// "":        all; returns null.
// Errors: kInvalidArgument for any other word.
absl::StatusOr<RecordFilter> MakeRecordFilter(const std::string& only, const Store& store);

// A study, from its spec to its report.
//
// The life of a study:
//   1. Load() reads the spec and the files that it names, expands it to trials and searches, and plans them once.
//   2. Run() makes the missing records. When a search has chosen its values, it adds the tuned trial to the plan.
//   3. LoadResults() and MakeReport() read the existing records.

struct StudyOptions {
  ExpandOptions expand;
  // Changes to the spec from the command line.
  SpecChanges changes;
  // Where to find the data. If a data set has no checksums in the catalog, the content of its files is part of the
  // keys; if the files are absent, openset uses the content that the store's last run found.
  std::vector<std::string> data_folders;
  // Reports progress while these files are hashed; may be null.
  ProgressReport progress;
  // Which results to make again although the store has them: "all"; "changed" for results made by another version of
  // their source code (experiments/study/source_changes.h) and everything that depends on them; "failed" for failed
  // trainings, which then start from the beginning; a method of the study, also by another name (core/text/synonyms.h),
  // for results that only its trials need. "": none.
  std::string redo;
  // Which of the missing records to make. "changed" sets `redo` to "changed" and
  // makes nothing else. "": all.
  std::string only;
  // If not empty, the ids of the records to make; `only` is then ignored.
  std::set<std::string> only_records;
};

class Study {
 public:
  // Loads an experiment by name or path, and finds its results in the store. Errors: a read error
  // (core/files/system_calls.h), of which kNotFound names a missing file of the study; kInvalidArgument, with
  // "FILE:LINE: path: " or the flag, for a study or options that can't be run: an unknown name, an invalid field, too
  // many trials, a criterion that the validation data leave undefined (unless all candidates have records);
  // kUnimplemented if a newer openset wrote a record.
  static absl::StatusOr<std::unique_ptr<Study>> Load(const std::string& spec, const SpecFolders& folders,
                                                     const Store& store, const StudyOptions& options = {});
  // The same for an experiment that has been made or read before.
  static absl::StatusOr<std::unique_ptr<Study>> Make(Experiment experiment, const Store& store,
                                                     const StudyOptions& options = {});

  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  const std::string& name() const { return experiment_.spec.name(); }
  // The name under which its reports are stored: the study's name, followed by a mark if the command line changed the
  // spec.
  std::string report_name() const;
  const Experiment& experiment() const { return experiment_; }
  const Store& store() const { return store_; }
  const std::vector<std::string>& data_folders() const { return data_folders_; }
  // Choose() adds to it. Trial numbers and action ids stay valid; references and pointers into it do not.
  const Plan& plan() const { return planner_.plan(); }

  // The trials of the tables, in order: each trial as written and, if its search is finished, as tuned. The other
  // trials of the plan are candidates.
  std::vector<int> ReportedTrials() const;
  // The number of tuned trials that are not in the plan yet, because their search is not finished.
  int waiting() const;
  // A line if the criterion of searches was undefined for all their candidates, so that they have no tuned trial.
  std::vector<std::string> UndecidedLines() const;

  // Lines about results that were made by another version of their source code (SourceChanges).
  std::vector<std::string> SourceLines() const;

  // Makes the missing records. First it checks that the needed files exist, creates the store, moves corrupt results to
  // quarantine/, removes results that are to be made again, and saves in the store the content digests of data sets
  // without checksums and the spec. Then it calls the observer's OnBegin() and executes the plan; other processes may
  // work on the same store. Sets `leases` of the options. Errors: before anything is written, an error of the data
  // (data/sets/data_set.h), and kNotFound for a missing model file; a write error (core/files/files.h); kAborted if
  // actions failed, with their number, or if everything else is done and results can't be read now (Unreadable());
  // kCancelled if the run was stopped; kFailedPrecondition if an action needs a device that is not there; kUnavailable
  // if the store failed or no GPU is left; kInvalidArgument if no trial has a result because a model could not be
  // imported.
  absl::Status Run(ExecuteOptions options, Engine* engine, EngineObserver* observer);

  // Saves in the store the content digests of data sets without checksums, so that machines without the files find the
  // results. Errors: a write error.
  absl::Status RecordContents() const;

  // Lines about data sets whose images are not on this machine, or have changed, to be printed first.
  const ResolvedContents& contents() const { return contents_; }
  // Lines about splits of the reported trials that are one draw (RepeatTexts() in data/splits/repeated_splits.h).
  std::vector<std::string> RepeatLines() const;

  // The corrupt results that this study needs, in the order of the plan: "PATH: ...". They count as missing.
  std::vector<std::string> Damaged() const;
  // The same for results that can't be read now (Plan.unreadable). They count as done, and a run leaves them as they
  // are.
  std::vector<std::string> Unreadable() const;
  // Moves the corrupt results to the store's quarantine, so that they are made again. Returns a line for each. Errors:
  // a write error.
  absl::StatusOr<std::vector<std::string>> QuarantineDamaged();

  // Removes results that are to be made again (StudyOptions.redo) from the store. Errors: a read failure; a write
  // error.
  absl::Status RemoveRedone() const { return RemoveRedone(0); }

  // Makes a choice whose candidates all have records, and adds the tuned trial. Returns its missing actions, inputs
  // first. Errors: kNotFound for a candidate without an intact record; kFailedPrecondition if the criterion is
  // undefined for all candidates; a read failure; kUnimplemented if a newer openset wrote a record; a write error.
  absl::StatusOr<std::vector<ActionId>> Choose(ActionId choice);

  // If the study adds runs until its comparisons are decided: what the records had decided when it was planned. The
  // plan has the trials of the rounds so far; with all their records, load the study again for the next round.
  const std::optional<UntilState>& until() const { return until_; }

  // LoadStudyResults() of the reported trials.
  std::unique_ptr<StudyResults> LoadResults() const;
  Report MakeReport(const StudyResults& results) const;

 private:
  Study(Experiment experiment, const Store& store);

  absl::Status PlanAll(const StudyOptions& options);
  // Sets StudyOptions.redo. Errors: kInvalidArgument for a name that is not a method of the study.
  absl::Status SetRedo(const std::string& redo);
  absl::Status CheckReportName() const;
  absl::Status RememberSpec() const;
  // Everything that Run() does before the plan is executed. Returns what was moved to quarantine/.
  absl::StatusOr<std::vector<std::string>> Prepare();
  // The outcome of a run, or, if no trial has a result because a model could not be imported, the reason for that.
  absl::Status WithReason(const absl::Status& outcome) const;
  // Marks those actions from `first` on that are to be made again, and removes their results from the store.
  void MarkRedone(size_t first);
  absl::Status RemoveRedone(size_t first) const;
  // Marks all actions to be made again, and makes each choice whose candidates are all kept, so that the actions that
  // it adds are marked too. Errors: a read failure of a record; kUnimplemented if a newer openset wrote it.
  absl::Status RedoSearches();

  // A trial of the spec, and the search for its values.
  struct Written {
    int trial;
    int search = -1;  // index in Plan.searches, if the search was not finished when the study was planned
    int tuned = -1;   // the tuned trial, if it was finished
  };
  int TunedOf(const Written& written) const;
  // Whether only the trial's evaluation is missing: its inputs exist, and it has not failed.
  bool LacksOnlyEvaluation(int trial) const;

  Experiment experiment_;  // changed by PlanAll() only
  const Store store_;
  std::vector<std::string> data_folders_;
  mutable SourceChanges changes_;  // of the results that were read
  Planner planner_;
  std::string redo_;
  ResolvedContents contents_;
  std::vector<std::string> undecided_;  // of the searches whose criterion is undefined for all candidates
  std::vector<Written> written_;
  std::optional<UntilState> until_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_STUDY_H_
