#include "experiments/store/store.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/process/machine.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"
#include "experiments/store/record_check.h"

namespace openset {
namespace {

constexpr char kVersionFile[] = "version";
constexpr char kReasonFile[] = "reason";
constexpr char kVersionLine[] = "openset store ";

// Stores of version 1 have no file that says so.
constexpr int kFirstVersion = 1;

// In the status of what is of another version: which.
constexpr char kVersionPayload[] = "openset/schema_version";

std::string OfVersion(const std::string& what, int version) {
  return absl::StrCat(what, " is of schema version ", version, ", this openset reads and writes version ",
                      kSchemaVersion);
}

// A record or summary among those of this version.
absl::Status OtherVersion(const std::string& path, int version) {
  absl::Status status = absl::DataLossError(OfVersion(path, version));
  status.SetPayload(kVersionPayload, absl::Cord(absl::StrCat(version)));
  return status;
}

absl::Status Check(const TrialRecord& record, absl::Span<const int> left_out) { return CheckRecord(record, left_out); }

absl::Status Check(const google::protobuf::Message& message, absl::Span<const int> /*left_out*/) {
  return CheckMessage(message);
}

template <typename Message>
absl::Status Load(const std::string& path, absl::Span<const int> without, Message* message) {
  std::vector<int> left_out;
  const absl::Status status = ReadRecordFile(path, message, without, &left_out);
  // A folder in its place.
  if (absl::IsInvalidArgument(status)) return absl::DataLossError(status.message());
  OPENSET_RETURN_IF_ERROR(status);
  const int version = message->has_schema_version() ? message->schema_version() : kFirstVersion;
  if (version != kSchemaVersion) return OtherVersion(path, version);
  return Annotate(Check(*message, left_out), path);
}

template <typename Message>
absl::StatusOr<Message> Load(const std::string& path) {
  Message message;
  OPENSET_RETURN_IF_ERROR(Load(path, {}, &message));
  return message;
}

// The n of what is called n and `suffix` in a folder, the largest; 0 if there is none.
int LastNumber(const std::string& folder, absl::string_view suffix) {
  int last = 0;
  for (const std::string& name : ListFolder(folder).value_or(std::vector<std::string>{})) {
    int number = 0;
    absl::string_view digits = name;
    if (absl::ConsumeSuffix(&digits, suffix) && absl::SimpleAtoi(digits, &number)) last = std::max(last, number);
  }
  return last;
}

int LastAttempt(const std::string& folder) { return LastNumber(folder, ".rec"); }

absl::Status CheckSum(const std::string& path, const std::string& sha256) {
  const absl::StatusOr<std::string> found = DigestCache::OfUser().Sha256Hex(path);
  if (absl::IsNotFound(found.status())) return absl::DataLossError(absl::StrCat(path, ": is not there"));
  if (!found.ok()) return absl::DataLossError(found.status().message());
  if (*found == sha256) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": does not match its checksum"));
}

// Of a summary: one that a folder lacks is damage.
template <typename Message>
absl::StatusOr<Message> LoadSummary(const std::string& folder) {
  absl::StatusOr<Message> summary = Load<Message>(JoinPath(folder, kSummaryFile));
  if (absl::IsNotFound(summary.status()) && FileExists(folder)) {
    return absl::DataLossError(absl::StrCat(folder, ": has no ", kSummaryFile));
  }
  return summary;
}

// Adds the temporaries of a folder that belong to nobody any more: NAME.tmp.<host>.<process space>.<pid>.<number>, see
// TemporaryName(); the host may hold dots.
void AddOrphans(const std::string& folder, std::vector<std::string>* orphans) {
  const std::string mine = absl::StrCat(".tmp.", HostName(), ".", ProcessSpace(), ".");
  const auto old = std::filesystem::file_time_type::clock::now() - absl::ToChronoHours(kOldTemporary);
  for (const std::string& name : ListFolder(folder).value_or(std::vector<std::string>{})) {
    if (!absl::StrContains(name, ".tmp.")) continue;
    const std::string path = JoinPath(folder, name);
    std::error_code error;
    const auto written = std::filesystem::last_write_time(path, error);
    bool is_orphan = !error && written < old;
    const std::vector<std::string> parts = absl::StrSplit(name, '.');
    int pid = 0;
    if (absl::StrContains(name, mine) && absl::SimpleAtoi(parts[parts.size() - 2], &pid)) {
      is_orphan = is_orphan || (kill(pid, 0) != 0 && errno == ESRCH);
    }
    if (is_orphan) orphans->push_back(path);
  }
}

bool IsThere(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

}  // namespace

std::string Store::Sharded(const std::string& kind, const std::string& name) const {
  return absl::StrCat(folder_, "/", kind, "/", name.substr(0, 2), "/", name);
}

std::string Store::RecordPath(const std::string& trial_id) const {
  return absl::StrCat(Sharded("records", trial_id), ".rec");
}
std::string Store::CheckpointFolder(const std::string& key) const { return Sharded("checkpoints", key); }
std::string Store::OutputsFolder(const std::string& key) const { return Sharded("outputs", key); }
std::string Store::PartialPath(const std::string& key) const {
  return absl::StrCat(folder_, "/partial/", key, ".safetensors");
}
std::string Store::AttemptsFolder(const std::string& key) const { return absl::StrCat(folder_, "/attempts/", key); }
std::string Store::LogFolder() const { return JoinPath(folder_, "logs"); }

std::string Store::LogPath(const std::string& key) const { return JoinPath(LogFolder(), absl::StrCat(key, ".log")); }

std::string Store::FindLog(const std::string& key) const {
  const std::string path = LogPath(key);
  return FileSize(path) > 0 ? path : "";
}
std::string Store::ReportFolder(const std::string& experiment) const {
  return absl::StrCat(folder_, "/reports/", experiment);
}

absl::Status Store::CheckVersion() const {
  std::error_code error;
  if (std::filesystem::exists(folder_, error) && !std::filesystem::is_directory(folder_, error)) {
    return absl::FailedPreconditionError(absl::StrCat("the store ", folder_, " is no folder: name another (--store)"));
  }
  const absl::StatusOr<std::string> content = ReadFile(JoinPath(folder_, kVersionFile));
  int version = 0;
  if (content.ok()) {
    absl::string_view line = *content;
    if (!absl::ConsumePrefix(&line, kVersionLine) || !absl::SimpleAtoi(line, &version)) {
      return absl::FailedPreconditionError(
          absl::StrCat(JoinPath(folder_, kVersionFile), " is not that of a store: name another folder (--store); or, ",
                       "if it is one whose file was damaged, write into it: ", kVersionLine, kSchemaVersion));
    }
  } else {
    version = kSchemaVersion;
    for (const char* kind : {"records", "checkpoints", "outputs", "failures"}) {
      if (FileExists(JoinPath(folder_, kind))) version = kFirstVersion;
    }
  }
  if (version == kSchemaVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      OfVersion(absl::StrCat("the store ", folder_), version),
      version < kSchemaVersion ? ": name another folder (--store), where its results are made again"
                               : ": use the newer openset that wrote it, or name another folder (--store)"));
}

absl::Status Store::Make(const std::string& folder) const {
  if (!FileExists(JoinPath(folder_, kVersionFile))) {
    OPENSET_RETURN_IF_ERROR(MakeFolders(folder_));
    OPENSET_RETURN_IF_ERROR(
        CreateFileAtomically(JoinPath(folder_, kVersionFile), absl::StrCat(kVersionLine, kSchemaVersion, "\n"))
            .status());
  }
  return MakeFolders(folder);
}

std::optional<int> OtherVersionOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kVersionPayload);
  int version = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &version)) return std::nullopt;
  return version;
}

std::string VersionLine(int records, int version) {
  return absl::StrCat(records, records == 1 ? " record is" : " records are", " of schema version ", version,
                      " and left out: this openset reads version ", kSchemaVersion, "; 'openset records verify' puts ",
                      records == 1 ? "it" : "them", " aside");
}

bool Store::HasRecord(const std::string& trial_id) const { return IsThere(RecordPath(trial_id)); }
bool Store::HasCheckpoint(const std::string& key) const { return IsThere(CheckpointFolder(key)); }
bool Store::HasOutputs(const std::string& key) const { return IsThere(OutputsFolder(key)); }

absl::StatusOr<TrialRecord> Store::LoadRecord(const std::string& trial_id) const {
  TrialRecord record;
  OPENSET_RETURN_IF_ERROR(LoadRecord(trial_id, {}, &record));
  return record;
}

absl::Status Store::LoadRecord(const std::string& trial_id, absl::Span<const int> without, TrialRecord* record) const {
  const std::string path = RecordPath(trial_id);
  OPENSET_RETURN_IF_ERROR(Load(path, without, record));
  if (record->trial_id() == trial_id) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": is the record of another trial, ", record->trial_id()));
}

absl::StatusOr<TrainSummary> Store::LoadTrainSummary(const std::string& key) const {
  return LoadSummary<TrainSummary>(CheckpointFolder(key));
}

absl::StatusOr<InferSummary> Store::LoadInferSummary(const std::string& key) const {
  return LoadSummary<InferSummary>(OutputsFolder(key));
}

absl::Status Store::CheckCheckpoint(const std::string& key) const {
  OPENSET_ASSIGN_OR_RETURN(const TrainSummary summary, LoadTrainSummary(key));
  return CheckSum(JoinPath(CheckpointFolder(key), kCheckpointFile), summary.checkpoint_sha256());
}

absl::Status Store::CheckOutputs(const std::string& key) const {
  OPENSET_ASSIGN_OR_RETURN(const InferSummary summary, LoadInferSummary(key));
  return CheckSum(JoinPath(OutputsFolder(key), kOutputsFile), summary.outputs_sha256());
}

absl::StatusOr<std::string> Store::Quarantine(const std::string& result, absl::string_view reason) const {
  const std::string quarantine = JoinPath(folder_, "quarantine");
  OPENSET_RETURN_IF_ERROR(Make(quarantine));
  // Another process may take the number first.
  std::string folder;
  for (int number = LastNumber(quarantine, "") + 1; folder.empty(); ++number) {
    const std::string free = absl::StrCat(quarantine, "/", number);
    if (Calls().MakeFolder(free, 0777) == 0) {
      folder = free;
    } else if (errno != EEXIST) {
      return absl::UnavailableError(absl::StrCat("cannot make the folder ", free, ": ", std::strerror(errno)));
    }
  }
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, kReasonFile), absl::StrCat(reason, "\n")));
  const std::string name = std::filesystem::path(result).filename().string();
  if (Calls().Rename(result, JoinPath(folder, name)) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot move ", result, " to ", folder, ": ", std::strerror(errno)));
  }
  return folder;
}

std::vector<std::string> Store::Quarantined() const {
  const std::string folder = JoinPath(folder_, "quarantine");
  std::vector<std::string> lines;
  for (int number = 1; number <= LastNumber(folder, ""); ++number) {
    const absl::StatusOr<std::string> reason = ReadFile(absl::StrCat(folder, "/", number, "/", kReasonFile));
    if (reason.ok())
      lines.push_back(absl::StrCat(folder, "/", number, ": ", absl::StripTrailingAsciiWhitespace(*reason)));
  }
  return lines;
}

absl::StatusOr<bool> Store::CommitFile(const std::string& path, absl::string_view content) const {
  OPENSET_RETURN_IF_ERROR(Make(std::filesystem::path(path).parent_path().string()));
  OPENSET_RETURN_IF_ERROR(MakeFolders(JoinPath(folder_, "tmp")));
  return CreateFileAtomically(path, content, JoinPath(folder_, "tmp"));
}

absl::StatusOr<bool> Store::CommitRecord(const TrialRecord& record) const {
  if (const absl::Status status = CheckRecord(record); !status.ok()) {
    return absl::InternalError(absl::StrCat("the record of trial ", record.trial_id(), ": ", status.message()));
  }
  return CommitRecordBytes(record.trial_id(), RecordPath(record.trial_id()), EncodeRecord(record));
}

absl::StatusOr<bool> Store::CommitRecordBytes(const std::string& trial_id, const std::string& path,
                                              absl::string_view bytes) const {
  OPENSET_ASSIGN_OR_RETURN(const bool is_first, CommitFile(path, bytes));
  if (is_first || path != RecordPath(trial_id)) return is_first;
  const absl::Status other = LoadRecord(trial_id).status();
  if (!absl::IsDataLoss(other) && !absl::IsNotFound(other)) return false;
  OPENSET_RETURN_IF_ERROR(Quarantine(path, other.message()).status());
  return CommitFile(path, bytes);
}

absl::StatusOr<std::string> Store::NewStagingFolder(const std::string& key) const {
  const std::string staging = TemporaryName(absl::StrCat(folder_, "/tmp/", key));
  OPENSET_RETURN_IF_ERROR(Make(staging));
  return staging;
}

absl::Status Store::CommitFolder(const std::string& staging, const std::string& target) const {
  OPENSET_RETURN_IF_ERROR(SyncFolder(staging));
  OPENSET_RETURN_IF_ERROR(Make(std::filesystem::path(target).parent_path().string()));
  const absl::StatusOr<bool> moved = MoveFolder(staging, target);
  if (!moved.ok() || !*moved) {
    std::error_code ignored;
    std::filesystem::remove_all(staging, ignored);
  }
  return moved.status();
}

absl::Status Store::Remove(const std::string& result) const {
  if (!IsThere(result)) return absl::OkStatus();
  // At once, as nobody may see a part of it.
  OPENSET_ASSIGN_OR_RETURN(const std::string staging, NewStagingFolder("removed"));
  std::error_code error;
  std::filesystem::rename(result, JoinPath(staging, "result"), error);
  std::error_code ignored;
  std::filesystem::remove_all(staging, ignored);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot remove ", result, ": ", error.message()));
}

absl::Status Store::WriteFailure(const FailureRecord& failure) const {
  const std::string folder = AttemptsFolder(failure.key());
  // Another process may take the number first.
  for (int number = LastAttempt(folder) + 1;; ++number) {
    OPENSET_ASSIGN_OR_RETURN(const bool is_mine,
                             CommitFile(absl::StrCat(folder, "/", number, ".rec"), EncodeRecord(failure)));
    if (is_mine) return absl::OkStatus();
  }
}

int Store::CountFailures(const std::string& key) const {
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(AttemptsFolder(key));
  if (!names.ok()) return 0;
  return static_cast<int>(std::count_if(names->begin(), names->end(),
                                        [](const std::string& name) { return absl::EndsWith(name, ".rec"); }));
}

std::vector<std::string> Store::KeysOfFailures() const {
  return ListFolder(JoinPath(folder_, "attempts")).value_or(std::vector<std::string>{});
}

absl::StatusOr<FailureRecord> Store::LoadFailure(const std::string& key) const {
  const std::string folder = AttemptsFolder(key);
  return Load<FailureRecord>(absl::StrCat(folder, "/", LastAttempt(folder), ".rec"));
}

void Store::SweepTemporaries() const {
  for (const std::string& path : Orphans()) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
}

std::vector<std::string> Store::Orphans() const {
  std::vector<std::string> orphans;
  for (const char* kind : {"tmp", "partial", ""}) AddOrphans(JoinPath(folder_, kind), &orphans);
  return orphans;
}

}  // namespace openset
