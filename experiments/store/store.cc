#include "experiments/store/store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/files/formats/header_check.h"
#include "core/files/remove_tree.h"
#include "core/files/system_calls.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/records/record_check.h"

namespace openset {
namespace {

constexpr char kVersionFile[] = "version";
constexpr char kReasonFile[] = "reason";
constexpr char kVersionLine[] = "openset store ";
constexpr int64_t kLongestVersion = 100;
constexpr int64_t kLongestReason = 1 << 16;

// Stores of version 1 have no version file.
constexpr int kFirstVersion = 1;

// The payload of a status that contains the other schema version.
constexpr char kVersionPayload[] = "openset/schema_version";

std::string OfVersion(const std::string& what, int version) {
  return absl::StrCat(what, " is of schema version ", version, ", this openset reads and writes version ",
                      kSchemaVersion);
}

// The error for a record or summary of another version.
absl::Status OtherVersion(const std::string& path, int version) {
  absl::Status status = absl::DataLossError(OfVersion(path, version));
  status.SetPayload(kVersionPayload, absl::Cord(absl::StrCat(version)));
  return status;
}

absl::Status Check(const TrialRecord& record, absl::Span<const int> left_out) { return CheckRecord(record, left_out); }

absl::Status Check(const google::protobuf::Message& message, absl::Span<const int> /*left_out*/) {
  return CheckMessage(message);
}

// Whether there is an entry of this name, also a link to nothing.
absl::StatusOr<bool> HasEntry(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return ReadError(errno, absl::StrCat("cannot look at ", path));
}

bool IsLink(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

template <typename Message>
absl::Status Load(const std::string& path, absl::Span<const int> without, Message* message) {
  std::vector<int> left_out;
  const absl::Status status = ReadRecordFile(path, message, without, &left_out);
  // There is a folder instead of the file, or a link to nothing.
  if (absl::IsInvalidArgument(status) || (absl::IsNotFound(status) && IsLink(path))) {
    return absl::DataLossError(status.message());
  }
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

// Returns the numbers n of the entries "n<suffix>" in a folder, sorted. Skips other names, and numbers too large to be
// reached by counting: other users may have made them.
absl::StatusOr<std::vector<int>> NumbersIn(const std::string& folder, absl::string_view suffix) {
  constexpr int kLargest = 10'000'000;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesInFolder(folder));
  std::vector<int> numbers;
  for (const std::string& name : names) {
    int number = 0;
    absl::string_view digits = name;
    if (!absl::ConsumeSuffix(&digits, suffix) || !absl::SimpleAtoi(digits, &number)) continue;
    if (number >= 1 && number <= kLargest && digits == absl::StrCat(number)) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Returns 0 if there is none.
absl::StatusOr<int> LastNumber(const std::string& folder, absl::string_view suffix) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int> numbers, NumbersIn(folder, suffix));
  return numbers.empty() ? 0 : numbers.back();
}

constexpr char kRecord[] = ".rec";

// All entries of a store's folder. Copies of programs may have links to their files; openset.collect() in Python puts
// the outputs that it gives to `openset score` into outputs_of.
constexpr const char* kStoreEntries[] = {
    "records", "replicas", "checkpoints", "outputs", "outputs_of", "attempts", "quarantine", "partial",   "runs",
    "running", "logs",     "tmp",         "slurm",   "data",       "reports",  "programs/*", kVersionFile};

// Adds what belongs beside a result's large file, `path`. `sha256`: a field of the summary, its checksum.
template <typename Summary>
absl::Status Complete(const std::string& path, Summary* summary, std::string* sha256) {
  if (sha256->empty()) {
    OPENSET_ASSIGN_OR_RETURN(*sha256, Sha256HexOfFile(path));
  }
  summary->set_schema_version(kSchemaVersion);
  const std::string staging = std::filesystem::path(path).parent_path().string();
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kSummaryFile), EncodeRecord(*summary)));
  return WriteFileAtomically(JoinPath(staging, kActionFile), ToText(summary->action()));
}

absl::Status CheckSum(const std::string& path, const std::string& sha256,
                      absl::Status (*check_header)(const std::string& path)) {
  const absl::StatusOr<std::string> found = DigestCache::OfUser().Sha256Hex(path, check_header);
  if (absl::IsNotFound(found.status())) return absl::DataLossError(absl::StrCat(path, ": is not there"));
  if (IsReadFailure(found.status())) return found.status();
  if (!found.ok()) return absl::DataLossError(found.status().message());
  if (*found == sha256) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": does not match its checksum"));
}

// If a folder exists without its summary, it is corrupt. So is the result of another action than `key`: two folders may
// have changed places. A result that another version of openset made states its key, which can't be computed here.
template <typename Message>
absl::StatusOr<Message> LoadSummary(const std::string& folder, const std::string& key) {
  absl::StatusOr<Message> summary = Load<Message>(JoinPath(folder, kSummaryFile));
  if (absl::IsNotFound(summary.status())) {
    OPENSET_ASSIGN_OR_RETURN(const bool has_folder, HasEntry(folder));
    if (has_folder) return absl::DataLossError(absl::StrCat(folder, ": has no ", kSummaryFile));
  }
  if (!summary.ok() || summary->provenance().key() == key) return summary;
  const std::string found = MessageDigest(summary->action());
  if (found == key) return summary;
  return absl::DataLossError(
      absl::StrCat(folder, ": its action has the key ", found, ": it belongs to another action"));
}

}  // namespace

Store::Store(std::string folder) : folder_(std::move(folder)) { CloseFolders(folder_, kStoreEntries); }

std::string Store::FolderOf(absl::string_view kind) const {
  const bool is_unpacked =
      bundle_ != nullptr && bundle_->unpacked.has_value() && kind != "records" && kind != "replicas";
  return absl::StrCat(is_unpacked ? bundle_->unpacked->path() : folder_, "/", kind);
}

std::string Store::Sharded(const std::string& kind, const std::string& name) const {
  return absl::StrCat(FolderOf(kind), "/", name.substr(0, 2), "/", name);
}

absl::StatusOr<std::vector<std::string>> Store::NamesIn(const std::string& folder) const {
  // Outputs and checkpoints are unpacked elsewhere.
  if (bundle_ == nullptr || !absl::StartsWith(folder, absl::StrCat(folder_, "/"))) return NamesInFolder(folder);
  std::vector<std::string> names;
  const std::string below = absl::StrCat(folder, "/");
  for (auto file = bundle_->records.lower_bound(below);
       file != bundle_->records.end() && absl::StartsWith(file->first, below);) {
    const std::string name = file->first.substr(below.size(), file->first.find('/', below.size()) - below.size());
    names.push_back(name);
    // Past everything in a folder of this name: '0' follows '/'.
    file = bundle_->records.lower_bound(absl::StrCat(below, name, "0"));
  }
  return names;
}

absl::StatusOr<std::string> Store::ReadBytes(const std::string& record_file) const {
  if (bundle_ == nullptr) return ReadRecordBytes(record_file);
  const auto found = bundle_->records.find(record_file);
  if (found != bundle_->records.end()) return found->second;
  return absl::NotFoundError(absl::StrCat(record_file, ": is not in the bundle"));
}

absl::Status BundleIsReadOnly(absl::string_view path) {
  return absl::FailedPreconditionError(absl::StrCat(path, " is a bundle, which is read-only: 'openset records merge ",
                                                    path, " --store=STORE' adds it to a store"));
}

std::string Store::RecordPath(const std::string& trial_id) const {
  return absl::StrCat(Sharded("records", trial_id), ".rec");
}
std::string Store::CheckpointFolder(const std::string& key) const { return Sharded("checkpoints", key); }
std::string Store::OutputsFolder(const std::string& key) const { return Sharded("outputs", key); }
std::string Store::PartialPath(const std::string& key) const {
  return absl::StrCat(folder_, "/partial/", key, ".safetensors");
}
std::string Store::WorkFolder(const std::string& key) const { return absl::StrCat(folder_, "/partial/", key); }
std::string Store::AttemptsFolder(const std::string& key) const { return absl::StrCat(folder_, "/attempts/", key); }
std::string Store::LogFolder() const { return JoinPath(folder_, "logs"); }

std::string Store::LogPath(const std::string& key) const { return JoinPath(LogFolder(), absl::StrCat(key, ".log")); }

std::string Store::FindLog(const std::string& key) const {
  const std::string path = LogPath(key);
  struct stat info;
  if (StatFile(path, &info) == 0) return info.st_size > 0 ? path : "";
  return errno == ENOENT || errno == ENOTDIR ? "" : path;
}
std::string Store::ReportFolder(const std::string& experiment) const {
  return absl::StrCat(folder_, "/reports/", experiment);
}

absl::StatusOr<int> Store::Version() const {
  if (bundle_ != nullptr) return kSchemaVersion;
  std::error_code error;
  if (std::filesystem::exists(folder_, error) && !std::filesystem::is_directory(folder_, error)) {
    return absl::FailedPreconditionError(absl::StrCat(folder_, " is not a folder: name another store (--store)"));
  }
  for (absl::string_view entry : kStoreEntries) {
    OPENSET_RETURN_IF_ERROR(CheckNoLink(JoinPath(folder_, absl::StripSuffix(entry, "/*"))));
  }
  const std::string file = JoinPath(folder_, kVersionFile);
  const absl::StatusOr<std::string> content =
      FileSize(file) <= kLongestVersion ? ReadFile(file, kLongestVersion) : absl::StatusOr<std::string>("");
  int version = 0;
  if (content.ok()) {
    absl::string_view line = *content;
    if (!absl::ConsumePrefix(&line, kVersionLine) || !absl::SimpleAtoi(line, &version)) {
      return absl::FailedPreconditionError(absl::StrCat(
          file, " is not the version file of a store: name another folder (--store); or, if it is corrupt, ",
          "write into it: ", kVersionLine, kSchemaVersion));
    }
  } else if (!absl::IsNotFound(content.status())) {
    return absl::Status(content.status().code(),
                        absl::StrCat("the store ", folder_, " can't be read: ", content.status().message()));
  } else {
    version = kSchemaVersion;
    for (const char* kind : {"records", "checkpoints", "outputs", "failures"}) {
      OPENSET_ASSIGN_OR_RETURN(const bool is_there, HasEntry(JoinPath(folder_, kind)));
      if (is_there) version = kFirstVersion;
    }
  }
  return version;
}

absl::Status Store::CheckVersion() const {
  OPENSET_ASSIGN_OR_RETURN(const int version, Version());
  if (version == kSchemaVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      OfVersion(absl::StrCat("the store ", folder_), version),
      version == kSchemaVersion - 1
          ? absl::StrCat(": 'openset records upgrade ", folder_, " NEW' makes a new store of it")
      : version < kSchemaVersion
          ? absl::StrCat(": name another folder (--store), where its results are made again; or, if only its file '",
                         kVersionFile, "' was lost, write into it: ", kVersionLine, kSchemaVersion)
          : ": use the newer openset that wrote it, or name another folder (--store)"));
}

absl::Status Store::CheckMayBeMade() const {
  OPENSET_RETURN_IF_ERROR(CheckVersion());
  if (bundle_ != nullptr || !FileExists(folder_) || FileExists(JoinPath(folder_, kVersionFile))) {
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(folder_));
  for (const std::string& name : names) {
    const bool is_own =
        absl::c_any_of(kStoreEntries, [&](absl::string_view entry) { return name == absl::StripSuffix(entry, "/*"); });
    // Files that a file system or a file manager leaves in a folder.
    if (is_own || absl::StartsWith(name, ".") || name == "lost+found") continue;
    return absl::FailedPreconditionError(absl::StrCat(folder_, " is not a store, and has other files (", OneLine(name),
                                                      "): name a new or an empty folder (--store)"));
  }
  return absl::OkStatus();
}

absl::Status Store::CheckIsStore() const {
  if (bundle_ != nullptr) return absl::OkStatus();
  if (!FileExists(folder_)) return absl::NotFoundError(absl::StrCat("there is no store ", folder_, " (--store)"));
  OPENSET_RETURN_IF_ERROR(CheckVersion());
  if (FileExists(JoinPath(folder_, kVersionFile))) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(folder_, " is not a store: it has no file '", kVersionFile, "'; name another folder (--store)"));
}

absl::Status Store::Make() const {
  if (bundle_ != nullptr) return BundleIsReadOnly(folder_);
  const std::string file = JoinPath(folder_, kVersionFile), temporaries = JoinPath(folder_, "tmp");
  if (FileExists(file)) return absl::OkStatus();
  OPENSET_RETURN_IF_ERROR(MakeFolders(temporaries));
  return CreateFileAtomically(file, absl::StrCat(kVersionLine, kSchemaVersion, "\n"), temporaries).status();
}

absl::Status Store::MakeFolder(const std::string& folder) const {
  OPENSET_RETURN_IF_ERROR(Make());
  return MakeFolders(folder);
}

bool IsReadFailure(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
}

absl::StatusOr<std::vector<std::string>> NamesInFolder(const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> names = ListFolder(folder);
  if (names.ok() || IsReadFailure(names.status())) return names;
  struct stat info;
  if (absl::IsNotFound(names.status()) && lstat(folder.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::vector<std::string>();
    return ReadError(errno, absl::StrCat("cannot look at ", folder));
  }
  return absl::DataLossError(absl::StrCat(folder, ": is not the folder that results belong in"));
}

std::optional<int> OtherVersionOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kVersionPayload);
  int version = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &version)) return std::nullopt;
  return version;
}

std::string VersionLine(int records, int version) {
  return absl::StrCat(records, records == 1 ? " record is" : " records are", " of schema version ", version,
                      " and left out: this openset reads version ", kSchemaVersion, "; 'openset records verify' moves ",
                      records == 1 ? "it" : "them", " to quarantine/");
}

absl::StatusOr<bool> Store::HasRecord(const std::string& trial_id) const {
  return bundle_ == nullptr ? HasEntry(RecordPath(trial_id)) : bundle_->records.count(RecordPath(trial_id)) > 0;
}
absl::StatusOr<bool> Store::HasCheckpoint(const std::string& key) const { return HasEntry(CheckpointFolder(key)); }
absl::StatusOr<bool> Store::HasOutputs(const std::string& key) const { return HasEntry(OutputsFolder(key)); }

absl::StatusOr<TrialRecord> Store::LoadRecord(const std::string& trial_id) const {
  TrialRecord record;
  OPENSET_RETURN_IF_ERROR(LoadRecord(trial_id, {}, &record));
  return record;
}

absl::Status Store::LoadRecord(const std::string& trial_id, absl::Span<const int> without, TrialRecord* record) const {
  const std::string path = RecordPath(trial_id);
  if (bundle_ != nullptr) {  // its records are valid
    OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(path));
    return DecodeRecord(bytes, record, without);
  }
  OPENSET_RETURN_IF_ERROR(Load(path, without, record));
  if (record->trial_id() == trial_id) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": is the record of another trial, ", record->trial_id()));
}

absl::StatusOr<TrainSummary> Store::LoadTrainSummary(const std::string& key) const {
  return LoadSummary<TrainSummary>(CheckpointFolder(key), key);
}

absl::StatusOr<InferSummary> Store::LoadInferSummary(const std::string& key) const {
  return LoadSummary<InferSummary>(OutputsFolder(key), key);
}

absl::Status Store::CheckCheckpoint(const std::string& key) const {
  OPENSET_ASSIGN_OR_RETURN(const TrainSummary summary, LoadTrainSummary(key));
  return CheckSum(JoinPath(CheckpointFolder(key), kCheckpointFile), summary.checkpoint_sha256(),
                  &CheckSafetensorsHeader);
}

absl::Status Store::CheckOutputs(const std::string& key) const {
  OPENSET_ASSIGN_OR_RETURN(const InferSummary summary, LoadInferSummary(key));
  return CheckSum(JoinPath(OutputsFolder(key), kOutputsFile), summary.outputs_sha256(), &CheckZipMembers);
}

absl::StatusOr<std::string> Store::Quarantine(const std::string& result, absl::string_view reason) const {
  const std::string quarantine = JoinPath(folder_, "quarantine");
  OPENSET_RETURN_IF_ERROR(MakeFolder(quarantine));
  // Another process may use the number first. The loop finds a free one even if the folder can't be listed.
  std::string folder;
  for (int number = LastNumber(quarantine, "").value_or(0) + 1; folder.empty(); ++number) {
    const std::string free = absl::StrCat(quarantine, "/", number);
    if (Calls().MakeFolder(free, 0777) == 0) {
      folder = free;
    } else if (errno != EEXIST) {
      return absl::UnavailableError(absl::StrCat("cannot make the folder ", free, ": ", std::strerror(errno)));
    }
  }
  absl::Status moved = WriteFileAtomically(JoinPath(folder, kReasonFile), absl::StrCat(reason, "\n"));
  const std::string name = std::filesystem::path(result).filename().string();
  if (moved.ok() && Calls().Rename(result, JoinPath(folder, name)) != 0) {
    const int error = errno;
    const std::string message = absl::StrCat("cannot move ", result, " to ", folder, ": ", std::strerror(error));
    moved = error == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
  }
  if (moved.ok()) return folder;
  RemoveTree(folder).IgnoreError();
  return moved;
}

absl::StatusOr<std::vector<std::string>> Store::Quarantined() const {
  const std::string folder = JoinPath(folder_, "quarantine");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int> numbers, NumbersIn(folder, ""));
  std::vector<std::string> lines;
  for (const int number : numbers) {
    const absl::StatusOr<std::string> reason =
        ReadFile(absl::StrCat(folder, "/", number, "/", kReasonFile), kLongestReason);
    if (absl::IsNotFound(reason.status())) continue;  // a folder of others, or one that a process is making or removing
    lines.push_back(
        absl::StrCat(folder, "/", number, ": ",
                     reason.ok() ? absl::StripTrailingAsciiWhitespace(*reason) : reason.status().message()));
  }
  return lines;
}

absl::StatusOr<bool> Store::CommitFile(const std::string& path, absl::string_view content) const {
  OPENSET_RETURN_IF_ERROR(MakeFolder(std::filesystem::path(path).parent_path().string()));
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
  if (IsReadFailure(other)) return other;
  if (!absl::IsDataLoss(other) && !absl::IsNotFound(other)) return false;
  const absl::Status moved = Quarantine(path, other.message()).status();
  if (!absl::IsNotFound(moved)) OPENSET_RETURN_IF_ERROR(moved);
  return CommitFile(path, bytes);
}

absl::StatusOr<std::string> Store::NewStagingFolder(const std::string& key) const {
  const std::string staging = TemporaryName(absl::StrCat(folder_, "/tmp/", key));
  OPENSET_RETURN_IF_ERROR(MakeFolder(staging));
  return staging;
}

absl::StatusOr<bool> Store::CommitFolder(const std::string& staging, const std::string& target) const {
  OPENSET_RETURN_IF_ERROR(SyncFolder(staging));
  OPENSET_RETURN_IF_ERROR(MakeFolder(std::filesystem::path(target).parent_path().string()));
  const absl::StatusOr<bool> moved = MoveFolder(staging, target);
  if (!moved.ok() || !*moved) RemoveTree(staging).IgnoreError();
  return moved;
}

absl::StatusOr<bool> Store::CommitResult(const std::string& staging, TrainSummary summary) const {
  // The folder is the user's, not a setting of the training.
  if (summary.action().train().training().has_command()) {
    summary.mutable_action()->mutable_train()->mutable_training()->mutable_command()->clear_folder();
  }
  OPENSET_RETURN_IF_ERROR(Complete(JoinPath(staging, kCheckpointFile), &summary, summary.mutable_checkpoint_sha256()));
  return CommitFolder(staging, CheckpointFolder(summary.provenance().key()));
}

absl::StatusOr<bool> Store::CommitResult(const std::string& staging, InferSummary summary) const {
  OPENSET_RETURN_IF_ERROR(Complete(JoinPath(staging, kOutputsFile), &summary, summary.mutable_outputs_sha256()));
  return CommitFolder(staging, OutputsFolder(summary.provenance().key()));
}

absl::Status Store::Remove(const std::string& result) const {
  if (bundle_ != nullptr) return BundleIsReadOnly(folder_);
  OPENSET_ASSIGN_OR_RETURN(const bool is_there, HasEntry(result));
  if (!is_there) return absl::OkStatus();
  // Renamed first, so that nobody sees a partly removed result.
  OPENSET_ASSIGN_OR_RETURN(const std::string staging, NewStagingFolder("removed"));
  const bool moved = Calls().Rename(result, JoinPath(staging, "result")) == 0;
  const int error = errno;
  RemoveTree(staging).IgnoreError();
  if (moved) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot remove ", result, ": ", std::strerror(error)));
}

absl::Status Store::WriteFailure(const FailureRecord& failure) const {
  const std::string folder = AttemptsFolder(failure.key());
  // Another process may use the number first. The loop finds a free one even if the folder can't be listed.
  for (int number = LastNumber(folder, kRecord).value_or(0) + 1;; ++number) {
    OPENSET_ASSIGN_OR_RETURN(const bool is_mine,
                             CommitFile(absl::StrCat(folder, "/", number, kRecord), EncodeRecord(failure)));
    if (is_mine) return absl::OkStatus();
  }
}

absl::StatusOr<int> Store::CountFailures(const std::string& key) const {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int> numbers, NumbersIn(AttemptsFolder(key), kRecord));
  return static_cast<int>(numbers.size());
}

absl::StatusOr<std::vector<std::string>> Store::KeysOfFailures() const {
  return NamesInFolder(JoinPath(folder_, "attempts"));
}

absl::StatusOr<FailureRecord> Store::LoadFailure(const std::string& key) const {
  const std::string folder = AttemptsFolder(key);
  OPENSET_ASSIGN_OR_RETURN(const int last, LastNumber(folder, kRecord));
  return Load<FailureRecord>(absl::StrCat(folder, "/", last, kRecord));
}

absl::StatusOr<absl::Time> Store::Now() const {
  const std::string temporaries = JoinPath(folder_, "tmp"), file = TemporaryName(JoinPath(temporaries, "now"));
  OPENSET_RETURN_IF_ERROR(MakeFolder(temporaries));
  OPENSET_RETURN_IF_ERROR(ReserveFile(file, file));
  struct stat info;
  const bool is_known = lstat(file.c_str(), &info) == 0;
  const int error = errno;
  Calls().Unlink(file);
  if (is_known) return absl::TimeFromTimespec(info.st_mtim);
  return absl::UnavailableError(absl::StrCat("cannot look at ", file, ": ", std::strerror(error)));
}

}  // namespace openset
