#include "experiments/store/upgrade.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/remove_tree.h"
#include "core/files/system_calls.h"
#include "core/files/temporary_folder.h"
#include "core/logging.h"
#include "core/proto/proto_digest.h"
#include "core/proto/proto_rules.h"
#include "core/proto/record_file.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/records/input_trainings.h"
#include "experiments/store/records/record_check.h"
#include "experiments/store/records/record_id.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/version_2.proto.h"

namespace openset {
namespace {

using ::google::protobuf::Message;

// The same fields in another message.
template <typename To>
To WithFieldsOf(const Message& from) {
  To to;
  CHECK(to.ParseFromString(from.SerializeAsString()));
  to.DiscardUnknownFields();
  return to;
}

// MessageDigest() by which version 2 named the result of an action.
std::string OldKey(const char* type, const Message& action) {
  const std::string name = absl::StrCat("openset.", type);
  std::string size(8, '\0');
  size[0] = static_cast<char>(name.size());
  return Sha256Hex(absl::StrCat(size, name, CanonicalBytes(action)));
}
std::string OldKey(const TrainActionV2& action) { return OldKey("TrainAction", action); }
std::string OldKey(const InferActionV2& action) { return OldKey("InferAction", action); }

// The keys that version 2 gave the actions of a trial, in their order.
std::vector<std::string> OldKeys(const std::vector<TrialAction>& actions) {
  std::vector<std::string> keys;
  std::vector<TrainActionV2> trains(actions.size());
  std::vector<InferActionV2> infers(actions.size());
  for (size_t a = 0; a < actions.size(); ++a) {
    const TrialAction& action = actions[a];
    if (action.kind == ActionKind::kTrain) {
      trains[a] = WithFieldsOf<TrainActionV2>(action.spec->train());
      if (!action.inputs.empty()) *trains[a].mutable_start() = trains[action.inputs[0]];
      keys.push_back(OldKey(trains[a]));
    } else if (action.kind == ActionKind::kInfer) {
      InferAction infer = action.spec->infer();
      infer.clear_execution();
      infers[a] = WithFieldsOf<InferActionV2>(infer);
      for (const int input : action.inputs) *infers[a].add_train() = trains[input];
      keys.push_back(OldKey(infers[a]));
    } else {
      auto evaluate = WithFieldsOf<EvaluateActionV2>(action.spec->evaluate());
      *evaluate.mutable_test() = infers[action.inputs[0]];
      if (action.inputs.size() > 1) *evaluate.mutable_fit() = infers[action.inputs[1]];
      keys.push_back(OldKey("EvaluateAction", evaluate));
    }
  }
  return keys;
}

void AddInput(ActionInput::Role role, const std::string& key, ActionSpec* spec) {
  ActionInput* input = spec->add_input();
  input->set_role(role);
  input->set_key(key);
}

ActionSpec SpecOf(TrainActionV2 old) {
  ActionSpec spec;
  if (old.has_start()) AddInput(ActionInput::START, MessageDigest(SpecOf(old.start())), &spec);
  old.clear_start();
  *spec.mutable_train() = WithFieldsOf<TrainAction>(old);
  return spec;
}

ActionSpec SpecOf(InferActionV2 old) {
  ActionSpec spec;
  for (const TrainActionV2& train : old.train()) AddInput(ActionInput::MODEL, MessageDigest(SpecOf(train)), &spec);
  const ExecutionSpec execution = old.train_size() > 0 ? old.train(0).execution() : ExecutionSpec();
  old.clear_train();
  *spec.mutable_infer() = WithFieldsOf<InferAction>(old);
  *spec.mutable_infer()->mutable_execution() = execution;
  return spec;
}

// A message of a file of version 2. Errors: kDataLoss if it is corrupt, breaks a rule or has another version;
// kUnimplemented for a newer layout.
template <typename Summary>
absl::StatusOr<Summary> Decode(const std::string& bytes) {
  Summary summary;
  OPENSET_RETURN_IF_ERROR(DecodeRecord(bytes, &summary));
  if (summary.schema_version() == kUpgradedVersion) return summary;
  return absl::DataLossError(absl::StrCat("is of schema version ", summary.schema_version()));
}

class Upgrade {
 public:
  Upgrade(const Store& from, const Store& to) : from_(from), to_(to) {}

  absl::StatusOr<UpgradeCounts> Run() {
    OPENSET_ASSIGN_OR_RETURN(const int version, from_.Version());
    if (version != kUpgradedVersion) {
      if (version == kSchemaVersion) OPENSET_RETURN_IF_ERROR(from_.CheckIsStore());  // there may be none
      return absl::FailedPreconditionError(absl::StrCat("the store ", from_.folder(), " is of schema version ", version,
                                                        ": only version ", kUpgradedVersion, " can be upgraded"));
    }
    OPENSET_RETURN_IF_ERROR(to_.CheckVersion());
    OPENSET_RETURN_IF_ERROR(to_.Make());
    UnreadRecords unread;
    for (const std::string& key : CheckpointKeys(from_, &unread)) {
      OPENSET_RETURN_IF_ERROR(Note(from_.CheckpointFolder(key), AddCheckpoint(key)));
    }
    for (const std::string& key : OutputsKeys(from_, &unread)) {
      OPENSET_RETURN_IF_ERROR(Note(from_.OutputsFolder(key), AddOutputs(key)));
    }
    std::vector<std::string> paths;
    for (const std::string& id : RecordIds(from_, &unread)) {
      paths.push_back(from_.RecordPath(id));
      OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> replicas, ReplicaPaths(from_, id));
      paths.insert(paths.end(), replicas.begin(), replicas.end());
    }
    OPENSET_RETURN_IF_ERROR(unread.ReadFailure());
    counts_.left_out.insert(counts_.left_out.end(), unread.damaged.begin(), unread.damaged.end());
    // The candidates of a search may come after the trial that was chosen.
    for (const bool write : {false, true}) {
      for (const std::string& path : paths) {
        const absl::Status status = AddRecord(path, write);
        if (write || IsReadFailure(status)) OPENSET_RETURN_IF_ERROR(Note(path, status));
      }
    }
    return std::move(counts_);
  }

 private:
  // What is corrupt is left out.
  absl::Status Note(const std::string& path, const absl::Status& status) {
    if (status.ok() || IsReadFailure(status)) return status;
    counts_.left_out.push_back(absl::StrCat(path, ": ", status.message()));
    return absl::OkStatus();
  }

  static const std::string& SumOf(const TrainSummary& summary) { return summary.checkpoint_sha256(); }
  static const std::string& SumOf(const InferSummary& summary) { return summary.outputs_sha256(); }

  // Reads the summary in the folder `old`, with its action in `before`, and compares it with its large file.
  template <typename Summary, typename Before>
  static absl::Status Read(const std::string& old, const char* file, const std::string& old_key, Summary* summary,
                           Before* before) {
    OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadRecordBytes(JoinPath(old, kSummaryFile)));
    OPENSET_ASSIGN_OR_RETURN(*summary, Decode<Summary>(bytes));
    OPENSET_RETURN_IF_ERROR(DecodeRecord(bytes, before));
    if (OldKey(before->action()) != old_key) {
      return absl::FailedPreconditionError("was made by another revision of one of its components");
    }
    OPENSET_ASSIGN_OR_RETURN(const std::string sha256, Sha256HexOfFile(JoinPath(old, file)));
    if (sha256 != SumOf(*summary)) return absl::DataLossError("does not match its checksum");
    return CheckMessage(*summary);
  }

  // Commits `summary` and the large file of the folder `old`.
  template <typename Summary>
  absl::Status Commit(const std::string& old, const char* file, const Summary& summary, int* count) {
    OPENSET_ASSIGN_OR_RETURN(const std::string staging, to_.NewStagingFolder(summary.provenance().key()));
    const FolderRemover remover(staging);
    const std::string source = JoinPath(old, file), copy = JoinPath(staging, file);
    OPENSET_RETURN_IF_ERROR(CheckNoLink(source));
    std::error_code error;
    std::filesystem::create_hard_link(source, copy, error);
    if (error) std::filesystem::copy_file(source, copy, error);
    if (error) return absl::UnavailableError(absl::StrCat("cannot copy ", source, ": ", error.message()));
    OPENSET_ASSIGN_OR_RETURN(const bool is_new, to_.CommitResult(staging, summary));
    if (is_new) ++*count;
    return absl::OkStatus();
  }

  absl::Status AddCheckpoint(const std::string& old_key) {
    const std::string old = from_.CheckpointFolder(old_key);
    TrainSummary summary;
    TrainSummaryV2 before;
    OPENSET_RETURN_IF_ERROR(Read(old, kCheckpointFile, old_key, &summary, &before));
    Convert(before.action(), &summary);
    return Commit(old, kCheckpointFile, summary, &counts_.checkpoints);
  }

  static void Convert(const TrainActionV2& old, TrainSummary* summary) {
    *summary->mutable_action() = SpecOf(old);
    summary->set_schema_version(kSchemaVersion);
    summary->DiscardUnknownFields();
    summary->mutable_provenance()->set_key(MessageDigest(summary->action()));
  }

  absl::Status AddOutputs(const std::string& old_key) {
    const std::string old = from_.OutputsFolder(old_key);
    InferSummary summary;
    InferSummaryV2 before;
    OPENSET_RETURN_IF_ERROR(Read(old, kOutputsFile, old_key, &summary, &before));
    *summary.mutable_action() = SpecOf(before.action());
    summary.set_schema_version(kSchemaVersion);
    summary.DiscardUnknownFields();
    summary.mutable_provenance()->set_key(MessageDigest(summary.action()));
    // Outputs of the first releases had no summaries of their trainings; the checkpoints have them.
    if (summary.training().empty()) {
      OPENSET_ASSIGN_OR_RETURN(*summary.mutable_training(), LoadTrainings(summary.action(), to_));
    } else {
      std::vector<const TrainActionV2*> trainings;
      for (const TrainActionV2& train : before.action().train()) {
        if (train.has_start()) trainings.push_back(&train.start());
        trainings.push_back(&train);
      }
      for (int t = 0; t < summary.training_size() && t < static_cast<int>(trainings.size()); ++t) {
        Convert(*trainings[t], summary.mutable_training(t));
      }
    }
    OPENSET_RETURN_IF_ERROR(CheckTrainings(summary));
    return Commit(old, kOutputsFile, summary, &counts_.outputs);
  }

  // Without `write`, only notes the new id.
  absl::Status AddRecord(const std::string& path, bool write) {
    OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadRecordBytes(path));
    OPENSET_ASSIGN_OR_RETURN(TrialRecord record, Decode<TrialRecord>(bytes));
    OPENSET_RETURN_IF_ERROR(CheckRecord(record));
    if (!absl::StrContains(path, record.trial_id())) return absl::DataLossError("is the record of another trial");
    // Otherwise nobody can compute its keys any more, and it keeps them.
    if (FindProblems(record.trial().method()).empty() &&
        absl::c_equal(record.provenance().raised_revision(), RaisedRevisions(record.trial()))) {
      const Trial trial = record.trial();
      ActionMaker maker;
      const std::vector<TrialAction> actions = maker.ActionsOf(trial);
      const std::vector<std::string> old_keys = OldKeys(actions);
      std::map<std::string, std::string> keys;
      for (size_t a = 0; a < actions.size(); ++a) keys[old_keys[a]] = ToHex(actions[a].key);
      if (old_keys.back() == record.trial_id()) {
        ids_[old_keys.back()] = keys[old_keys.back()];
        if (write) Rename(keys, &record);
      } else if (!HasUnknownFields(record.trial())) {
        return absl::DataLossError(
            absl::StrCat("trial_id: is ", record.trial_id(), ", but the trial gives ", old_keys.back()));
      }
    }
    if (!write) return absl::OkStatus();
    record.set_schema_version(kSchemaVersion);
    if (record.trial().has_search()) {
      for (SearchCandidate& candidate : *record.mutable_trial()->mutable_search()->mutable_candidate()) {
        RenameKey(ids_, candidate.mutable_trial_id());
        for (SearchRung& rung : *candidate.mutable_rung()) RenameKey(ids_, rung.mutable_trial_id());
      }
    }
    const std::string encoded = EncodeRecord(record);
    TrialRecord checked;
    OPENSET_RETURN_IF_ERROR(DecodeSharedRecord(encoded, record.trial_id(), &checked));
    return MergeRecord(to_, record, encoded, &counts_.merged);
  }

  static void RenameKey(const std::map<std::string, std::string>& keys, std::string* key) {
    const auto found = keys.find(*key);
    if (found != keys.end()) *key = found->second;
  }

  static void Rename(const std::map<std::string, std::string>& keys, TrialRecord* record) {
    const auto rename = [&keys](std::string* key) { RenameKey(keys, key); };
    record->set_former_trial_id(record->trial_id());
    rename(record->mutable_trial_id());
    if (record->has_checkpoint_key()) rename(record->mutable_checkpoint_key());
    if (record->has_outputs_key()) rename(record->mutable_outputs_key());
    if (record->has_fit_outputs_key()) rename(record->mutable_fit_outputs_key());
    for (StageProvenance& stage : *record->mutable_provenance()->mutable_stage()) {
      if (stage.has_key()) rename(stage.mutable_key());
    }
  }

  const Store& from_;
  const Store& to_;
  std::map<std::string, std::string> ids_;  // of trials: the new one of each old one
  UpgradeCounts counts_;
};

}  // namespace

absl::StatusOr<UpgradeCounts> UpgradeStore(const Store& from, const Store& to) { return Upgrade(from, to).Run(); }

absl::StatusOr<UpgradeCounts> UpgradeBundle(const std::string& from, const std::string& to, BundleWritten* written) {
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make("openset_upgrade"));
  const Store before(JoinPath(folder.path(), "before")), after(JoinPath(folder.path(), "after"));
  const auto write = [&](const std::string& name, const std::string& content) -> absl::Status {
    const std::string path = JoinPath(before.folder(), name);
    OPENSET_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
    return WriteFileAtomically(path, content);
  };
  OPENSET_RETURN_IF_ERROR(MakeFolders(before.folder()));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(before.folder(), "version"),
                                              absl::StrCat("openset store ", kUpgradedVersion, "\n")));
  BundleExtras extras;
  const auto other = [&](const std::string& name, const std::string& content) -> absl::Status {
    constexpr absl::string_view kLibrary = "library/";
    if (!absl::StartsWith(name, kLibrary)) {
      (name[0] == 'o' ? extras.outputs : extras.checkpoints) = true;
      return write(name, content);
    }
    extras.library[name.substr(kLibrary.size())] = content;
    return absl::OkStatus();
  };
  OPENSET_RETURN_IF_ERROR(ReadBundle(from, write, {}, other, nullptr, kUpgradedVersion).status());
  OPENSET_ASSIGN_OR_RETURN(UpgradeCounts counts, UpgradeStore(before, after));
  for (std::string& line : counts.left_out) {
    if (absl::StartsWith(line, before.folder()))
      line = absl::StrCat(from, ": ", line.substr(before.folder().size() + 1));
  }
  UnreadRecords unread;
  const std::vector<std::string> ids = RecordIds(after, &unread);
  if (ids.empty()) return absl::DataLossError(absl::StrCat(from, ": no record of it can be upgraded"));
  OPENSET_ASSIGN_OR_RETURN(*written, WriteBundle(after, ids, to, extras));
  return counts;
}

}  // namespace openset
