#include "experiments/store/verify_store.h"

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <set>
#include <utility>

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
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxTextBytes);
  if (absl::IsNotFound(text.status()) || absl::IsInvalidArgument(text.status())) {
    return absl::DataLossError(absl::StrCat(path, ": is missing or not a file"));
  }
  OPENSET_RETURN_IF_ERROR(text.status());
  if (*text == ToText(action)) return absl::OkStatus();
  // Another version of the program may have formatted it differently.
  Action read;
  const auto parsed = ParseTextProto(*text, path, &read);
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
      for (const std::string& name : NamesIn(folder)) {
        // Anything else does not belong there.
        if (name.size() == 2 || kind == std::string("attempts")) NamesIn(JoinPath(folder, name));
      }
    }
    const std::vector<std::string> ids = RecordIds(store_, &unread_);
    if (store_.bundle() != nullptr) {
      for (const std::string& line : store_.bundle()->damaged) report_.damaged.push_back({line, line});
    }
    std::vector<std::string> other_outputs(ids.size());
    std::vector<std::pair<std::string, std::string>> methods(ids.size());  // name and title
    NoteAll(
        ids, [&](const std::string& id) { return store_.RecordPath(id); },
        [&](int64_t i) {
          const absl::StatusOr<TrialRecord> record = store_.LoadRecord(ids[i]);
          if (!record.ok()) return record.status();
          other_outputs[i] = CompareOutputs(*record);
          methods[i] = {record->trial().method().name(), record->trial().method().title()};
          absl::Status status = CheckTrialId(*record);
          if (status.ok()) status = CheckMetricsOfTrial(*record);
          return Annotate(status, store_.RecordPath(ids[i]));
        });
    report_.records = static_cast<int>(ids.size());
    for (std::string& line : other_outputs) {
      if (!line.empty()) report_.incomplete.push_back(std::move(line));
    }
    for (const auto& [name, title] : methods) {
      if (!name.empty()) report_.titles[name].insert(title);
    }
    for (const std::string& id : ReplicaIds(store_, &unread_)) {
      const absl::StatusOr<std::vector<std::string>> replicas = ReplicaPaths(store_, id);
      Note(ReplicaFolder(store_, id), replicas.status());
      if (!replicas.ok()) continue;
      for (const std::string& path : *replicas) {
        ++report_.replicas;
        Note(path, CheckAtRest(path, [&] { return CheckReplica(store_, path, id); }));
      }
    }
    const std::vector<std::string> checkpoints = CheckpointKeys(store_, &unread_);
    const std::vector<std::string> outputs = OutputsKeys(store_, &unread_);
    NoteAll(
        checkpoints, [&](const std::string& key) { return store_.CheckpointFolder(key); },
        [&](int64_t i) { return CheckCheckpoint(store_, checkpoints[i]); });
    report_.checkpoints = static_cast<int>(checkpoints.size());
    NoteAll(
        outputs, [&](const std::string& key) { return store_.OutputsFolder(key); },
        [&](int64_t i) { return CheckOutputs(store_, outputs[i]); });
    report_.outputs = static_cast<int>(outputs.size());
    const std::string attempts = JoinPath(store_.folder(), "attempts");
    const auto listed = [](const std::string& folder) {  // the loop above noted what is wrong with it
      return NamesInFolder(folder).value_or(std::vector<std::string>{});
    };
    for (const std::string& key : listed(attempts)) {
      for (const std::string& name : listed(JoinPath(attempts, key))) {
        ++report_.attempts;
        const std::string path = absl::StrCat(attempts, "/", key, "/", name);
        Note(path, CheckAtRest(path, [&] { return CheckFailure(path); }));
      }
    }
    report_.strangers = UnknownEntries(store_, &unread_);
    // Some folders were listed several times.
    const std::set<std::string> lines(unread_.unreadable.begin(), unread_.unreadable.end());
    report_.unreadable.assign(lines.begin(), lines.end());
    return std::move(report_);
  }

 private:
  // The names in a folder for results. Notes it if it can't be listed, or if something else is in its place, so that no
  // results can be read or written there.
  std::vector<std::string> NamesIn(const std::string& folder) {
    absl::StatusOr<std::vector<std::string>> names = NamesInFolder(folder);
    Note(folder, names.status());
    return names.ok() ? *std::move(names) : std::vector<std::string>();
  }

  void Note(const std::string& path, const absl::Status& status) {
    if (IsReadFailure(status)) {
      unread_.Add(status);
    } else if (!status.ok() && (!absl::IsNotFound(status) || !IdentityOf(path).empty())) {
      report_.damaged.push_back({path, std::string(status.message())});
    }
  }

  // Identifies the entry of this name, not what a link leads to; "" if there is none.
  static std::string IdentityOf(const std::string& path) {
    struct stat info;
    if (lstat(path.c_str(), &info) != 0) return "";
    return absl::StrCat(info.st_dev, " ", info.st_ino, " ", info.st_ctim.tv_sec, " ", info.st_ctim.tv_nsec);
  }

  // Checks a result again if another process replaced it meanwhile. Returns kNotFound if it was removed.
  absl::Status CheckAtRest(const std::string& path, const std::function<absl::Status()>& check) const {
    constexpr int kMostTimes = 10;
    if (store_.bundle() != nullptr) return check();  // its results are no files, and don't change
    for (int n = 1;; ++n) {
      const std::string before = IdentityOf(path);
      absl::Status found = check();
      if (found.ok() || IsReadFailure(found)) return found;
      const std::string after = IdentityOf(path);
      if (after.empty()) return absl::NotFoundError(path);
      if (after == before || n == kMostTimes) return found;
    }
  }

  // Checks all keys on all CPUs, several files at a time, and reports the problems in the order of the keys.
  void NoteAll(const std::vector<std::string>& keys, const std::function<std::string(const std::string& key)>& path_of,
               const std::function<absl::Status(int64_t)>& check) {
    std::vector<absl::Status> found(keys.size());
    InParallelWaiting(static_cast<int64_t>(keys.size()),
                      [&](int64_t i) { found[i] = CheckAtRest(path_of(keys[i]), [&] { return check(i); }); });
    for (size_t i = 0; i < keys.size(); ++i) Note(path_of(keys[i]), found[i]);
  }

  static absl::Status CheckFailure(const std::string& path) {
    FailureRecord failure;
    OPENSET_RETURN_IF_ERROR(ReadRecordFile(path, &failure));
    return Annotate(CheckMessage(failure), path);
  }

  static absl::Status CheckReplica(const Store& store, const std::string& path, const std::string& id) {
    OPENSET_ASSIGN_OR_RETURN(const std::string bytes, store.ReadBytes(path));
    TrialRecord record;
    OPENSET_RETURN_IF_ERROR(Annotate(DecodeSharedRecord(bytes, id, &record), path));
    OPENSET_RETURN_IF_ERROR(Annotate(CheckMetricsOfTrial(record), path));
    if (path.find(Sha256Hex(bytes)) == std::string::npos) {
      return absl::DataLossError(absl::StrCat(path, ": does not match the digest in its name"));
    }
    return absl::OkStatus();
  }

  // Returns a line if the stored outputs are not those that the record was made from; otherwise "".
  std::string CompareOutputs(const TrialRecord& record) const {
    const absl::StatusOr<InferSummary> summary = store_.LoadInferSummary(record.outputs_key());
    if (!summary.ok() || summary->outputs_sha256() == record.outputs_sha256()) return "";
    if (!store_.HasRecord(record.trial_id()).value_or(true)) return "";  // both are being made again
    return absl::StrCat(store_.RecordPath(record.trial_id()), ": was made from other outputs than ",
                        store_.OutputsFolder(record.outputs_key()), " contains");
  }

  const Store& store_;
  StoreReport report_;
  UnreadRecords unread_;
};

}  // namespace

absl::StatusOr<StoreReport> VerifyStore(const Store& store) {
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  return Verification(store).Run();
}

}  // namespace openset
