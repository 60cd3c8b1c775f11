// Where results are kept: records, checkpoints, outputs. A folder that can be shared, merged by copying, and read while
// it is written.
//
//   records/ab/<trial id>.rec             TrialRecord, one immutable file each (core/proto/record_file.h)
//   replicas/ab/<trial id>/<sha256>.rec   further records of the trial, from other stores (experiments/store/merge.h)
//   checkpoints/ab/<key>/                 checkpoint.safetensors, summary.rec (TrainSummary), action.textproto; of a
//                                         training that others go on from also state.safetensors
//   outputs/ab/<key>/                     outputs.npz, summary.rec (InferSummary), action.textproto
//   attempts/<key>/<n>.rec                FailureRecord of the n-th attempt that failed, n from 1; they stay
//   quarantine/<n>/                       a result that was damaged, and `reason`, a line; n from 1
//   partial/<key>.safetensors             where a training is that is not complete
//   runs/, running/                       what processes do now (experiments/store/processes/leases.h)
//   logs/<key>.log                        what a training or an inference said (experiments/worker/action_log.h);
//                                         beside them what workers of this or that process said
//   tmp/                                  of running processes (experiments/store/processes/orphans.h)
//   slurm/                                arrays of tasks (experiments/engine/slurm/slurm_jobs.h)
//   programs/<sha256>/                    what they run (experiments/engine/slurm/program_copy.h)
//   data/<data set>/<part>.sha256         what its files held at the last run, where the catalog has no checksums
//   reports/<experiment>/                 tables
//   version                               "openset store 2": the schema version of all that is in it
//
// ab are the first two digits of the name. Folders and files appear whole or not at all, the first writer wins, and
// what was committed is still there after a power cut: file and name, of each folder on the way too, are synced before
// a commit returns. Whatever a record, checkpoint or output is damaged by (a torn write, a flipped bit, a folder in its
// place), reading it gives kDataLoss with its path: it is never taken for a result.
#ifndef OPENSET_EXPERIMENTS_STORE_STORE_H_
#define OPENSET_EXPERIMENTS_STORE_STORE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "experiments/store/record.proto.h"

namespace openset {

class Store {
 public:
  // Nothing is made before something is written.
  explicit Store(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }

  // Whether this openset can read what is there, or may make a store there: of a folder that is empty or not there yet,
  // or has other things in it. For what makes results. Errors: kFailedPrecondition, with the folder and what to do, for
  // a store of another schema version, and for what is no folder; kPermissionDenied.
  absl::Status CheckVersion() const;
  // Whether this openset can read what is there, and it is a store. For all else, which makes none. Errors: those of
  // CheckVersion(); kNotFound if there is no folder; kFailedPrecondition for one without the file `version`.
  absl::Status CheckIsStore() const;
  // Makes the folder, and in it `version`, unless they are there. Errors: kUnavailable.
  absl::Status Make() const;

  bool HasRecord(const std::string& trial_id) const;
  bool HasCheckpoint(const std::string& key) const;
  bool HasOutputs(const std::string& key) const;

  std::string RecordPath(const std::string& trial_id) const;
  std::string CheckpointFolder(const std::string& key) const;
  std::string OutputsFolder(const std::string& key) const;
  std::string PartialPath(const std::string& key) const;
  std::string LogFolder() const;
  // What a training or an inference said, attempts one behind the other (experiments/worker/action_log.h).
  std::string LogPath(const std::string& key) const;
  // LogPath() where there is something in it; "" otherwise.
  std::string FindLog(const std::string& key) const;
  std::string ReportFolder(const std::string& experiment) const;

  // Errors, with the path: kNotFound; kDataLoss for what is damaged, holds another trial's, says what can't be
  // (CheckRecord() in experiments/store/records/record_check.h), or is of another schema version (OtherVersionOf());
  // kPermissionDenied.
  absl::StatusOr<TrialRecord> LoadRecord(const std::string& trial_id) const;
  // The same in place of what `record` held, and without the fields of these numbers (DecodeRecord in
  // core/proto/record_file.h), of which it is checked only that those are there that must be; undefined after an error.
  // Precondition: schema_version and trial_id are not among them.
  absl::Status LoadRecord(const std::string& trial_id, absl::Span<const int> without, TrialRecord* record) const;
  absl::StatusOr<TrainSummary> LoadTrainSummary(const std::string& key) const;
  absl::StatusOr<InferSummary> LoadInferSummary(const std::string& key) const;

  // Compare a result with its checksums, a large file once as long as it stays as it is (core/files/digest_cache.h).
  // Errors: those of Load...; kDataLoss also for a file that does not match its checksum.
  absl::Status CheckCheckpoint(const std::string& key) const;
  absl::Status CheckOutputs(const std::string& key) const;

  // Moves a damaged result, RecordPath(), CheckpointFolder(), OutputsFolder() of something or a file beside them, to
  // quarantine/, so that it can be made again and yet be looked at. Returns the folder it is in. Errors: kUnavailable.
  absl::StatusOr<std::string> Quarantine(const std::string& result, absl::string_view reason) const;
  // What is in quarantine/: a line each, "quarantine/1: reason".
  std::vector<std::string> Quarantined() const;

  // False if there is a record of this trial already; it stays, unless it is damaged: then it goes to quarantine/.
  // Errors: kInternal, with the field, for a record that CheckRecord() would refuse to read; those of writing.
  absl::StatusOr<bool> CommitRecord(const TrialRecord& record) const;
  // The same for the bytes of a record file, at RecordPath() or, of replicas, elsewhere in the store.
  absl::StatusOr<bool> CommitRecordBytes(const std::string& trial_id, const std::string& path,
                                         absl::string_view bytes) const;

  // A new empty folder under tmp/ to fill, then to commit.
  absl::StatusOr<std::string> NewStagingFolder(const std::string& key) const;
  // Makes the staging folder durable and moves it to `target` (CheckpointFolder() or OutputsFolder()). If that exists
  // already it stays, and the staging folder is removed.
  absl::Status CommitFolder(const std::string& staging, const std::string& target) const;

  // Removes a result, so that it can be made again: RecordPath(), CheckpointFolder() or OutputsFolder() of something,
  // or PartialPath(). It need not be there. Errors: kUnavailable.
  absl::Status Remove(const std::string& result) const;

  // Keeps it beside those of earlier attempts.
  absl::Status WriteFailure(const FailureRecord& failure) const;
  // Attempts that failed.
  int CountFailures(const std::string& key) const;
  // The keys of the actions that have failed, sorted.
  std::vector<std::string> KeysOfFailures() const;
  // The last one. kNotFound if the action has not failed.
  absl::StatusOr<FailureRecord> LoadFailure(const std::string& key) const;

 private:
  absl::StatusOr<bool> CommitFile(const std::string& path, absl::string_view content) const;
  // Makes a folder of the store, which it makes first.
  absl::Status MakeFolder(const std::string& folder) const;
  std::string AttemptsFolder(const std::string& key) const;
  std::string Sharded(const std::string& kind, const std::string& name) const;

  std::string folder_;
};

// The files of a checkpoint or outputs folder.
inline constexpr char kCheckpointFile[] = "checkpoint.safetensors";
inline constexpr char kStateFile[] = "state.safetensors";
inline constexpr char kOutputsFile[] = "outputs.npz";
inline constexpr char kSummaryFile[] = "summary.rec";
inline constexpr char kActionFile[] = "action.textproto";

// Of records, summaries and failures.
inline constexpr int kSchemaVersion = 2;

// The schema version of what could not be loaded because it is another one; none for other errors.
std::optional<int> OtherVersionOf(const absl::Status& status);

// "2 records are of schema version 3 and left out: ...".
std::string VersionLine(int records, int version);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_STORE_H_
