// A store: the folder with all results (records, checkpoints, outputs). Several machines can share it, copying merges
// stores, and it can be read while it is written.
//
//   records/ab/<trial id>.rec             TrialRecord, one immutable file each (core/proto/record_file.h)
//   replicas/ab/<trial id>/<sha256>.rec   further records of the trial, from other stores (experiments/store/merge.h)
//   checkpoints/ab/<key>/                 checkpoint.safetensors, summary.rec (TrainSummary), action.textproto; also
//                                         state.safetensors if other trainings continue from it
//   outputs/ab/<key>/                     outputs.npz, summary.rec (InferSummary), action.textproto
//   attempts/<key>/<n>.rec                FailureRecord of the n-th failed attempt, from 1; never removed
//   quarantine/<n>/                       a corrupt result, and `reason`, one line; n from 1
//   partial/<key>.safetensors             the saved state of an incomplete training
//   runs/, running/                       the current work of processes (experiments/store/processes/leases.h)
//   logs/<key>.log                        the log of a training or an inference (experiments/worker/action_log.h); also
//                                         logs of workers
//   tmp/                                  temporary files of running processes (experiments/store/processes/orphans.h)
//   slurm/                                Slurm job arrays (experiments/engine/slurm/slurm_jobs.h)
//   programs/<sha256>/                    the programs that they run (experiments/engine/slurm/program_copy.h)
//   data/<data set>/<part>.sha256         the digest of its files at the last run, if the catalog has no checksums
//   reports/<experiment>/                 tables
//   version                               "openset store 3": the schema version of everything in the store
//
// "ab" are the first two digits of the name. Folders and files appear as a whole, and the first writer wins. Committed
// results survive a power cut: before a commit returns, the file, its name and the names of all folders above it are
// synced. If a record, checkpoint or output is corrupt in any way (a torn write, a flipped bit, a folder in its place),
// or is the result of another action than its name says, reading it returns kDataLoss with its path.
//
// An error is not absence, and not corruption. Only kNotFound means that something is not there, and only kDataLoss
// that it is corrupt. Everything else (IsReadFailure()) means that it can't be read now: nobody may remove, move or
// replace anything because of it.
#ifndef OPENSET_EXPERIMENTS_STORE_STORE_H_
#define OPENSET_EXPERIMENTS_STORE_STORE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/files/temporary_folder.h"
#include "experiments/store/record.proto.h"

namespace openset {

// What a bundle contains (experiments/store/bundle.h).
struct BundleContent {
  std::string digest;
  std::map<std::string, std::string> records;  // valid record files: "BUNDLE.zip/records/ab/ID.rec" and its bytes
  std::map<std::string, std::string> library;  // "tasks/NAME.textproto" and its content
  std::vector<std::string> damaged;            // a line for each result that was left out
  // Has outputs/ and checkpoints/, if they were asked for.
  std::optional<TemporaryFolder> unpacked;
};

class Store {
 public:
  // Creates nothing until something is written.
  // Closes its folders to links (core/files/system_calls.h): below `folder`, which may be a link itself, none is
  // followed, since others may write there.
  explicit Store(std::string folder);
  // A bundle, read as a store that nobody can change (OpenBundle() in experiments/store/merge.h): functions that write
  // return kFailedPrecondition. `path` is its own, and takes the place of the folder in the paths of records:
  // "BUNDLE.zip/records/ab/ID.rec".
  Store(std::string path, std::shared_ptr<const BundleContent> bundle)
      : folder_(std::move(path)), bundle_(std::move(bundle)) {}

  const std::string& folder() const { return folder_; }
  // Null for a folder.
  const BundleContent* bundle() const { return bundle_.get(); }
  // The folder of records, replicas, checkpoints or outputs.
  std::string FolderOf(absl::string_view kind) const;

  // NamesInFolder() and ReadRecordBytes() (core/proto/record_file.h) for folders and files of records and replicas,
  // which a bundle has in memory.
  absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& folder) const;
  absl::StatusOr<std::string> ReadBytes(const std::string& record_file) const;

  // The schema version by the file `version`; kSchemaVersion for a folder without results. Errors: kFailedPrecondition
  // if the path is not a folder, or the file `version` is not a store's; kPermissionDenied if one of the store's own
  // folders is a link; a read error other than kNotFound (core/files/system_calls.h).
  absl::StatusOr<int> Version() const;
  // Checks that the folder is a store that this openset can read, or that it has no results (it is absent, empty, or
  // has other files). Errors, with the folder and what to do: kFailedPrecondition for a store of another schema
  // version, a path that is not a folder, or a file `version` that is not a store's; kPermissionDenied if one of the
  // store's own folders is a link; a read error other than kNotFound.
  absl::Status CheckVersion() const;
  // For commands that make results: the same, and kFailedPrecondition for a folder that is not a store and has entries
  // that no store has.
  absl::Status CheckMayBeMade() const;
  // For all other commands: checks that the folder is a store that this openset can read. Errors: kNotFound if there is
  // no folder; kFailedPrecondition as above, and for a folder without the file `version`; kPermissionDenied as above; a
  // read error.
  absl::Status CheckIsStore() const;
  // Creates the folder and the file `version` in it, unless they exist. Errors: a write error (core/files/files.h).
  absl::Status Make() const;

  // Whether there is anything of this name, intact or not. Errors: a read error other than kNotFound.
  absl::StatusOr<bool> HasRecord(const std::string& trial_id) const;
  absl::StatusOr<bool> HasCheckpoint(const std::string& key) const;
  absl::StatusOr<bool> HasOutputs(const std::string& key) const;

  std::string RecordPath(const std::string& trial_id) const;
  std::string CheckpointFolder(const std::string& key) const;
  std::string OutputsFolder(const std::string& key) const;
  std::string PartialPath(const std::string& key) const;
  // The folder in which a command trains (CommandSpec), with what it left to continue from.
  std::string WorkFolder(const std::string& key) const;
  std::string LogFolder() const;
  // The log of a training or an inference, with all its attempts (experiments/worker/action_log.h).
  std::string LogPath(const std::string& key) const;
  // LogPath() if the log exists and is not empty, or if the system can't tell; otherwise "".
  std::string FindLog(const std::string& key) const;
  std::string ReportFolder(const std::string& experiment) const;

  // Errors, with the path: kNotFound; kDataLoss for a record that is corrupt, belongs to another trial, breaks a rule
  // (CheckRecord() in experiments/store/records/record_check.h) or has another schema version (OtherVersionOf());
  // kUnimplemented if a newer openset wrote it; a read failure (IsReadFailure()).
  absl::StatusOr<TrialRecord> LoadRecord(const std::string& trial_id) const;
  // Loads into `record`, without the fields that have the numbers `without` (DecodeRecord() in
  // core/proto/record_file.h). Of these fields, only the presence of required ones is checked. After an error, `record`
  // is undefined. Precondition: schema_version and trial_id are not among the fields.
  absl::Status LoadRecord(const std::string& trial_id, absl::Span<const int> without, TrialRecord* record) const;
  // The same errors; kDataLoss also if another action made the result: neither its provenance nor the digest of its
  // action says that its key is `key`.
  absl::StatusOr<TrainSummary> LoadTrainSummary(const std::string& key) const;
  absl::StatusOr<InferSummary> LoadInferSummary(const std::string& key) const;

  // Compare a result with its checksums. Large files that have not changed are read only once
  // (core/files/digest_cache.h). The same errors; kDataLoss also for a file that is missing or does not match its
  // checksum.
  absl::Status CheckCheckpoint(const std::string& key) const;
  absl::Status CheckOutputs(const std::string& key) const;

  // Moves a corrupt result to quarantine/, so that it can be made again and people can examine it. `result` is a
  // RecordPath(), CheckpointFolder() or OutputsFolder(), or a file next to them. Returns its new folder. Errors:
  // kNotFound if it is gone; a write error. After an error, quarantine/ is as before.
  absl::StatusOr<std::string> Quarantine(const std::string& result, absl::string_view reason) const;
  // One line for each folder of quarantine/: "quarantine/1: reason". Errors: a read failure; kDataLoss if quarantine/
  // is not a folder.
  absl::StatusOr<std::vector<std::string>> Quarantined() const;

  // Returns false if the store already has a record of this trial, which then stays. A corrupt one is moved to
  // quarantine/ and replaced. Errors: kInternal, with the field, for a record that CheckRecord() would refuse to read;
  // a read failure if the record that is there can't be read now; a write error.
  absl::StatusOr<bool> CommitRecord(const TrialRecord& record) const;
  // The same for the bytes of a record file. `path` is RecordPath(), or the path of a replica.
  absl::StatusOr<bool> CommitRecordBytes(const std::string& trial_id, const std::string& path,
                                         absl::string_view bytes) const;

  // A new empty folder below tmp/. Fill it, then call CommitFolder().
  absl::StatusOr<std::string> NewStagingFolder(const std::string& key) const;
  // Syncs the staging folder and moves it to `target` (CheckpointFolder() or OutputsFolder()). If `target` exists, it
  // stays, the staging folder is removed, and the result is false.
  absl::StatusOr<bool> CommitFolder(const std::string& staging, const std::string& target) const;
  // Writes a summary and its action beside the checkpoint or the outputs in a staging folder, and commits the folder
  // under the key in the summary's provenance. Fills in the file's checksum if the summary has none. Errors: a read
  // error of the file; a write error.
  absl::StatusOr<bool> CommitResult(const std::string& staging, TrainSummary summary) const;
  absl::StatusOr<bool> CommitResult(const std::string& staging, InferSummary summary) const;

  // Removes a result, so that it can be made again: a RecordPath(), CheckpointFolder(), OutputsFolder(),
  // PartialPath() or WorkFolder(). It need not exist. Errors: a write error; a read error other than kNotFound.
  absl::Status Remove(const std::string& result) const;

  // Adds a failed attempt. Earlier ones stay. Errors: a write error.
  absl::Status WriteFailure(const FailureRecord& failure) const;
  // The number of failed attempts. Errors: a read failure; kDataLoss if attempts/<key> is not a folder.
  absl::StatusOr<int> CountFailures(const std::string& key) const;
  // The keys of all actions with failed attempts, sorted. The same errors.
  absl::StatusOr<std::vector<std::string>> KeysOfFailures() const;
  // The last failed attempt. The same errors; kNotFound if there is none; kDataLoss also if it is corrupt or has
  // another schema version; kUnimplemented if a newer openset wrote it.
  absl::StatusOr<FailureRecord> LoadFailure(const std::string& key) const;

  // The time by the clock of the store's disk, to compare with the times of its files: the time of a file that this
  // makes and removes. Errors: kUnavailable; a write error.
  absl::StatusOr<absl::Time> Now() const;

 private:
  absl::StatusOr<bool> CommitFile(const std::string& path, absl::string_view content) const;
  // Creates the store if necessary, then a folder in it.
  absl::Status MakeFolder(const std::string& folder) const;
  std::string AttemptsFolder(const std::string& key) const;
  std::string Sharded(const std::string& kind, const std::string& name) const;

  std::string folder_;
  std::shared_ptr<const BundleContent> bundle_;
};

// The error of a command that would change a bundle: kFailedPrecondition, with the command that makes a store of it.
absl::Status BundleIsReadOnly(absl::string_view path);

// The files of a checkpoint or outputs folder.
inline constexpr char kCheckpointFile[] = "checkpoint.safetensors";
inline constexpr char kStateFile[] = "state.safetensors";
inline constexpr char kOutputsFile[] = "outputs.npz";
inline constexpr char kSummaryFile[] = "summary.rec";
inline constexpr char kActionFile[] = "action.textproto";

// The schema version of records, summaries and failures.
inline constexpr int kSchemaVersion = 3;

// Whether an error of reading says nothing about the bytes, because they could not be read now: kPermissionDenied,
// kResourceExhausted (too many open files, no memory) or kUnavailable (the disk or its server). Contracts call these
// codes "a read failure".
bool IsReadFailure(const absl::Status& status);

// The names in a folder of a store, sorted; none if there is no such entry. Errors, with the path: kDataLoss if the
// entry is not a folder, or a link to nothing; a read failure.
absl::StatusOr<std::vector<std::string>> NamesInFolder(const std::string& folder);

// The schema version, if a result could not be loaded because it has another one; none for other errors.
std::optional<int> OtherVersionOf(const absl::Status& status);

// "2 records are of schema version 3 and left out: ...".
std::string VersionLine(int records, int version);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_STORE_H_
