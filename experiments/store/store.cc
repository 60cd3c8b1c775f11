#include "experiments/store/store.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"

namespace openset {
namespace {

template <typename Message>
absl::StatusOr<Message> Load(const std::string& path) {
  Message message;
  const absl::Status status = ReadRecordFile(path, &message);
  if (absl::IsDataLoss(status)) {
    return absl::DataLossError(absl::StrCat(status.message(), "; remove it to have it made again"));
  }
  OPENSET_RETURN_IF_ERROR(status);
  return message;
}

std::string HostName() {
  char host[256] = "host";
  gethostname(host, sizeof(host) - 1);
  return host;
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
std::string Store::LogFolder() const { return JoinPath(folder_, "logs"); }
std::string Store::ReportFolder(const std::string& experiment) const {
  return absl::StrCat(folder_, "/reports/", experiment);
}

bool Store::HasRecord(const std::string& trial_id) const { return FileExists(RecordPath(trial_id)); }
bool Store::HasCheckpoint(const std::string& key) const { return FileExists(CheckpointFolder(key)); }
bool Store::HasOutputs(const std::string& key) const { return FileExists(OutputsFolder(key)); }

absl::StatusOr<TrialRecord> Store::LoadRecord(const std::string& trial_id) const {
  OPENSET_ASSIGN_OR_RETURN(TrialRecord record, Load<TrialRecord>(RecordPath(trial_id)));
  if (record.schema_version() > kSchemaVersion) {
    return absl::UnimplementedError(absl::StrCat(RecordPath(trial_id), ": written by a newer openset (schema version ",
                                                 record.schema_version(), ", known up to ", kSchemaVersion, ")"));
  }
  return record;
}

absl::StatusOr<TrainSummary> Store::LoadTrainSummary(const std::string& key) const {
  return Load<TrainSummary>(JoinPath(CheckpointFolder(key), kSummaryFile));
}

absl::StatusOr<InferSummary> Store::LoadInferSummary(const std::string& key) const {
  return Load<InferSummary>(JoinPath(OutputsFolder(key), kSummaryFile));
}

absl::StatusOr<bool> Store::CommitRecord(const TrialRecord& record) const {
  const std::string path = RecordPath(record.trial_id());
  OPENSET_RETURN_IF_ERROR(MakeFolders(std::filesystem::path(path).parent_path().string()));
  return CreateFileAtomically(path, EncodeRecord(record));
}

absl::StatusOr<std::string> Store::NewStagingFolder(const std::string& key) const {
  const std::string staging = TemporaryName(absl::StrCat(folder_, "/tmp/", key));
  OPENSET_RETURN_IF_ERROR(MakeFolders(staging));
  return staging;
}

absl::Status Store::CommitFolder(const std::string& staging, const std::string& target) const {
  OPENSET_RETURN_IF_ERROR(SyncFolder(staging));
  const std::string parent = std::filesystem::path(target).parent_path().string();
  OPENSET_RETURN_IF_ERROR(MakeFolders(parent));
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

absl::Status Store::WriteFailure(const FailureRecord& failure) const {
  OPENSET_RETURN_IF_ERROR(MakeFolders(JoinPath(folder_, "failures")));
  return WriteFileAtomically(absl::StrCat(folder_, "/failures/", failure.key(), ".rec"), EncodeRecord(failure));
}

void Store::RemoveFailure(const std::string& key) const {
  unlink(absl::StrCat(folder_, "/failures/", key, ".rec").c_str());
}

absl::StatusOr<FailureRecord> Store::LoadFailure(const std::string& key) const {
  return Load<FailureRecord>(absl::StrCat(folder_, "/failures/", key, ".rec"));
}

void Store::MarkRunning(const std::string& key) const {
  const std::string folder = JoinPath(folder_, "running");
  if (!MakeFolders(folder).ok()) return;
  std::ofstream(JoinPath(folder, key)) << HostName() << " " << getpid();
}

void Store::UnmarkRunning(const std::string& key) const { unlink(absl::StrCat(folder_, "/running/", key).c_str()); }

std::string Store::RunningBy(const std::string& key) const {
  const absl::StatusOr<std::string> owner = ReadFile(absl::StrCat(folder_, "/running/", key));
  if (!owner.ok()) return "";
  const std::vector<std::string> parts = absl::StrSplit(*owner, ' ');
  int pid = 0;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[1], &pid)) return "";
  return parts[0] == HostName() && kill(pid, 0) != 0 ? "" : *owner;
}

void Store::SweepTemporaries() const {
  for (const std::string& key : ListFolder(JoinPath(folder_, "running")).value_or(std::vector<std::string>{})) {
    if (RunningBy(key).empty()) UnmarkRunning(key);
  }
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
