#include "experiments/store/verify_store.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/header_check.h"
#include "core/in_parallel.h"
#include "core/proto/record_file.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/records/record_check.h"
#include "experiments/store/records/record_id.h"
#include "experiments/store/store_contents.h"

namespace openset {
namespace {

// Hashes the file's bytes, without the cache of digests.
absl::Status CheckSum(const std::string& path, const std::string& sha256,
                      absl::Status (*check_header)(const std::string& path)) {
  OPENSET_RETURN_IF_ERROR(check_header(path));
  OPENSET_ASSIGN_OR_RETURN(const std::string found, Sha256HexOfFile(path, kMaxFileBytes));
  if (found == sha256) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": does not match its checksum"));
}

// Checks that action.textproto, which is for people, is the action of the summary.
template <typename Action>
absl::Status CheckAction(const std::string& folder, const Action& action) {
  const std::string path = JoinPath(folder, kActionFile);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::DataLossError(absl::StrCat(path, ": is missing or not a file"));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxTextBytes));
  if (text == ToText(action)) return absl::OkStatus();
  // Another version of the program may have formatted it differently.
  Action read;
  const auto parsed = ParseTextProto(text, path, &read);
  if (!parsed.ok()) return parsed.status();
  if (ToText(read) == ToText(action)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": is not the action of ", kSummaryFile));
}

absl::Status CheckCheckpoint(const Store& store, const std::string& key) {
  OPENSET_ASSIGN_OR_RETURN(const TrainSummary summary, store.LoadTrainSummary(key));
  const std::string folder = store.CheckpointFolder(key);
  OPENSET_RETURN_IF_ERROR(
      CheckSum(JoinPath(folder, kCheckpointFile), summary.checkpoint_sha256(), &CheckSafetensorsHeader));
  return CheckAction(folder, summary.action());
}

absl::Status CheckOutputs(const Store& store, const std::string& key) {
  OPENSET_ASSIGN_OR_RETURN(const InferSummary summary, store.LoadInferSummary(key));
  const std::string folder = store.OutputsFolder(key);
  OPENSET_RETURN_IF_ERROR(CheckSum(JoinPath(folder, kOutputsFile), summary.outputs_sha256(), &CheckZipMembers));
  return CheckAction(folder, summary.action());
}

class Verification {
 public:
  explicit Verification(const Store& store) : store_(store) {}

  absl::StatusOr<StoreReport> Run() {
    for (const char* kind : {"records", "replicas", "checkpoints", "outputs", "attempts"}) {
      const std::string folder = JoinPath(store_.folder(), kind);
      if (!IsInPlaceOfAFolder(folder)) {
        for (const std::string& name : NamesIn(folder)) {
          // Anything else does not belong there.
          if (name.size() == 2 || kind == std::string("attempts")) IsInPlaceOfAFolder(JoinPath(folder, name));
        }
      }
    }
    const std::vector<std::string> ids = RecordIds(store_);
    std::vector<std::string> other_outputs(ids.size());
    NoteAll(
        ids, [&](const std::string& id) { return store_.RecordPath(id); },
        [&](int64_t i) {
          const absl::StatusOr<TrialRecord> record = store_.LoadRecord(ids[i]);
          if (!record.ok()) return record.status();
          other_outputs[i] = CompareOutputs(*record);
          return Annotate(CheckTrialId(*record), store_.RecordPath(ids[i]));
        });
    report_.records = static_cast<int>(ids.size());
    for (std::string& line : other_outputs) {
      if (!line.empty()) report_.incomplete.push_back(std::move(line));
    }
    for (const std::string& id : ReplicaIds(store_)) {
      for (const std::string& path : ReplicaPaths(store_, id)) {
        ++report_.replicas;
        Note(path, CheckReplica(path, id));
      }
    }
    const std::vector<std::string> checkpoints = CheckpointKeys(store_), outputs = OutputsKeys(store_);
    NoteAll(
        checkpoints, [&](const std::string& key) { return store_.CheckpointFolder(key); },
        [&](int64_t i) { return CheckCheckpoint(store_, checkpoints[i]); });
    report_.checkpoints = static_cast<int>(checkpoints.size());
    NoteAll(
        outputs, [&](const std::string& key) { return store_.OutputsFolder(key); },
        [&](int64_t i) { return CheckOutputs(store_, outputs[i]); });
    report_.outputs = static_cast<int>(outputs.size());
    const std::string attempts = JoinPath(store_.folder(), "attempts");
    for (const std::string& key : NamesIn(attempts)) {
      for (const std::string& name : NamesIn(JoinPath(attempts, key))) {
        ++report_.attempts;
        const std::string path = absl::StrCat(attempts, "/", key, "/", name);
        Note(path, CheckFailure(path));
      }
    }
    report_.strangers = Strangers(store_);
    return std::move(report_);
  }

 private:
  static std::vector<std::string> NamesIn(const std::string& folder) {
    return ListFolder(folder).value_or(std::vector<std::string>{});
  }

  // Whether something else is in the place of a folder for results, so that no results can be read or written there. If
  // so, reports it.
  bool IsInPlaceOfAFolder(const std::string& path) {
    std::error_code error;
    const bool is_there = std::filesystem::exists(std::filesystem::symlink_status(path, error));
    if (!is_there || std::filesystem::is_directory(path, error)) return false;
    report_.damaged.push_back({path, absl::StrCat(path, ": is not the folder that results belong in")});
    return true;
  }

  void Note(const std::string& path, const absl::Status& status) {
    if (!status.ok()) report_.damaged.push_back({path, std::string(status.message())});
  }

  // Checks all keys on all CPUs, several files at a time, and reports the problems in the order of the keys.
  void NoteAll(const std::vector<std::string>& keys, const std::function<std::string(const std::string& key)>& path_of,
               const std::function<absl::Status(int64_t)>& check) {
    std::vector<absl::Status> found(keys.size());
    InParallelWaiting(static_cast<int64_t>(keys.size()), [&](int64_t i) { found[i] = check(i); });
    for (size_t i = 0; i < keys.size(); ++i) Note(path_of(keys[i]), found[i]);
  }

  static absl::Status CheckFailure(const std::string& path) {
    FailureRecord failure;
    OPENSET_RETURN_IF_ERROR(ReadRecordFile(path, &failure));
    return Annotate(CheckMessage(failure), path);
  }

  static absl::Status CheckReplica(const std::string& path, const std::string& id) {
    OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadRecordBytes(path));
    TrialRecord record;
    OPENSET_RETURN_IF_ERROR(Annotate(DecodeSharedRecord(bytes, id, &record), path));
    if (path.find(Sha256Hex(bytes)) == std::string::npos) {
      return absl::DataLossError(absl::StrCat(path, ": does not match the digest in its name"));
    }
    return absl::OkStatus();
  }

  // Returns a line if the stored outputs are not those that the record was made from; otherwise "".
  std::string CompareOutputs(const TrialRecord& record) const {
    const absl::StatusOr<InferSummary> summary = store_.LoadInferSummary(record.outputs_key());
    if (!summary.ok() || summary->outputs_sha256() == record.outputs_sha256()) return "";
    return absl::StrCat(store_.RecordPath(record.trial_id()), ": was made from other outputs than ",
                        store_.OutputsFolder(record.outputs_key()), " contains");
  }

  const Store& store_;
  StoreReport report_;
};

}  // namespace

absl::StatusOr<StoreReport> VerifyStore(const Store& store) {
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  return Verification(store).Run();
}

}  // namespace openset
