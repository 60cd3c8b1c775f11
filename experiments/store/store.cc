#include "experiments/store/store.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/process/machine.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr char kVersionFile[] = "version";
constexpr char kVersionLine[] = "openset store ";

// Stores of version 1 have no file that says so.
constexpr int kFirstVersion = 1;

absl::Status OtherVersion(const std::string& what, int version) {
  return absl::FailedPreconditionError(absl::StrCat(
      what, " is of schema version ", version, ", this openset reads and writes version ", kSchemaVersion,
      version < kSchemaVersion ? ": name another folder (--store), where its results are made again"
                               : ": use the newer openset that wrote it, or name another folder (--store)"));
}

template <typename Message>
absl::StatusOr<Message> Load(const std::string& path) {
  Message message;
  const absl::Status status = ReadRecordFile(path, &message);
  if (absl::IsDataLoss(status)) {
    return absl::DataLossError(absl::StrCat(status.message(), "; remove it to have it made again"));
  }
  OPENSET_RETURN_IF_ERROR(status);
  const int version = message.has_schema_version() ? message.schema_version() : kFirstVersion;
  if (version != kSchemaVersion) return OtherVersion(path, version);
  return message;
}

// The n of the files n.rec of a folder, the largest; 0 if there is none.
int LastAttempt(const std::string& folder) {
  int last = 0;
  for (const std::string& name : ListFolder(folder).value_or(std::vector<std::string>{})) {
    int number = 0;
    absl::string_view digits = name;
    if (absl::ConsumeSuffix(&digits, ".rec") && absl::SimpleAtoi(digits, &number)) last = std::max(last, number);
  }
  return last;
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
std::string Store::ReportFolder(const std::string& experiment) const {
  return absl::StrCat(folder_, "/reports/", experiment);
}

absl::Status Store::CheckVersion() const {
  const absl::StatusOr<std::string> content = ReadFile(JoinPath(folder_, kVersionFile));
  int version = 0;
  if (content.ok()) {
    absl::string_view line = *content;
    if (!absl::ConsumePrefix(&line, kVersionLine) || !absl::SimpleAtoi(line, &version)) {
      return absl::FailedPreconditionError(
          absl::StrCat(JoinPath(folder_, kVersionFile), " is not that of a store; name another folder (--store)"));
    }
  } else {
    version = kSchemaVersion;
    for (const char* kind : {"records", "checkpoints", "outputs", "failures"}) {
      if (FileExists(JoinPath(folder_, kind))) version = kFirstVersion;
    }
  }
  return version == kSchemaVersion ? absl::OkStatus() : OtherVersion(absl::StrCat("the store ", folder_), version);
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

bool Store::HasRecord(const std::string& trial_id) const { return FileExists(RecordPath(trial_id)); }
bool Store::HasCheckpoint(const std::string& key) const { return FileExists(CheckpointFolder(key)); }
bool Store::HasOutputs(const std::string& key) const { return FileExists(OutputsFolder(key)); }

absl::StatusOr<TrialRecord> Store::LoadRecord(const std::string& trial_id) const {
  return Load<TrialRecord>(RecordPath(trial_id));
}

absl::StatusOr<TrainSummary> Store::LoadTrainSummary(const std::string& key) const {
  return Load<TrainSummary>(JoinPath(CheckpointFolder(key), kSummaryFile));
}

absl::StatusOr<InferSummary> Store::LoadInferSummary(const std::string& key) const {
  return Load<InferSummary>(JoinPath(OutputsFolder(key), kSummaryFile));
}

absl::StatusOr<bool> Store::CommitRecord(const TrialRecord& record) const {
  const std::string path = RecordPath(record.trial_id());
  OPENSET_RETURN_IF_ERROR(Make(std::filesystem::path(path).parent_path().string()));
  return CreateFileAtomically(path, EncodeRecord(record));
}

absl::StatusOr<std::string> Store::NewStagingFolder(const std::string& key) const {
  const std::string staging = TemporaryName(absl::StrCat(folder_, "/tmp/", key));
  OPENSET_RETURN_IF_ERROR(Make(staging));
  return staging;
}

absl::Status Store::CommitFolder(const std::string& staging, const std::string& target) const {
  OPENSET_RETURN_IF_ERROR(SyncFolder(staging));
  const std::string parent = std::filesystem::path(target).parent_path().string();
  OPENSET_RETURN_IF_ERROR(Make(parent));
  std::error_code error;
  std::filesystem::rename(staging, target, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove_all(staging, ignored);
    if (!FileExists(target)) {
      return absl::UnavailableError(absl::StrCat("cannot move results to ", target, ": ", error.message()));
    }
  }
  return SyncFolder(parent);
}

absl::Status Store::Remove(const std::string& result) const {
  if (!FileExists(result)) return absl::OkStatus();
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
  OPENSET_RETURN_IF_ERROR(Make(folder));
  // Another process may take the number first.
  for (int number = LastAttempt(folder) + 1;; ++number) {
    OPENSET_ASSIGN_OR_RETURN(const bool is_mine,
                             CreateFileAtomically(absl::StrCat(folder, "/", number, ".rec"), EncodeRecord(failure)));
    if (is_mine) return absl::OkStatus();
  }
}

int Store::CountFailures(const std::string& key) const {
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(AttemptsFolder(key));
  if (!names.ok()) return 0;
  return static_cast<int>(std::count_if(names->begin(), names->end(),
                                        [](const std::string& name) { return absl::EndsWith(name, ".rec"); }));
}

absl::StatusOr<FailureRecord> Store::LoadFailure(const std::string& key) const {
  const std::string folder = AttemptsFolder(key);
  return Load<FailureRecord>(absl::StrCat(folder, "/", LastAttempt(folder), ".rec"));
}

void Store::SweepTemporaries() const {
  const std::string folder = JoinPath(folder_, "tmp");
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(folder);
  if (!names.ok()) return;
  // NAME.tmp.<host>.<pid>.<number>, see TemporaryName(); the host may hold dots.
  for (const std::string& name : *names) {
    const std::vector<std::string> parts = absl::StrSplit(name, '.');
    const size_t marker = name.find(absl::StrCat(".tmp.", HostName(), "."));
    int pid = 0;
    if (marker == std::string::npos || parts.size() < 2 || !absl::SimpleAtoi(parts[parts.size() - 2], &pid)) continue;
    if (kill(pid, 0) == 0) continue;
    std::error_code ignored;
    std::filesystem::remove_all(JoinPath(folder, name), ignored);
  }
}

}  // namespace openset
