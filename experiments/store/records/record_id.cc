#include "experiments/store/records/record_id.h"

#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/proto/proto_rules.h"
#include "core/proto/record_file.h"
#include "core/proto/schema.pb.h"
#include "core/status_macros.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/records/record_check.h"
#include "experiments/store/store.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/unknown_field_set.h"

namespace openset {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// Calls `use` with `message` and all messages in it.
template <typename Use>
void ForEachMessage(const Message& message, const Use& use) {
  use(message);
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      ForEachMessage(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                          : reflection.GetMessage(message, field),
                     use);
    }
  }
}

absl::Status InvalidId(absl::string_view field, absl::string_view key, absl::string_view said) {
  return absl::DataLossError(absl::StrCat(field, ": is ", said, ", but the trial gives ", key));
}

// Checks the consistency of a record whose trial has other revisions.
absl::Status CheckAgreement(const TrialRecord& record) {
  bool has_evaluation = false, has_inference = false, has_outputs = false, has_training = false, has_checkpoint = false;
  for (const StageProvenance& stage : record.provenance().stage()) {
    has_evaluation = has_evaluation || (stage.stage() == StageProvenance::EVALUATE && stage.key() == record.trial_id());
    if (stage.stage() == StageProvenance::INFER) {
      has_inference = true;
      has_outputs = has_outputs || stage.key() == record.outputs_key();
    }
    if (stage.stage() == StageProvenance::TRAIN) {
      has_training = true;
      has_checkpoint = has_checkpoint || stage.key() == record.checkpoint_key();
    }
  }
  if (!has_evaluation) return absl::DataLossError("provenance: has no evaluation with the record's trial_id");
  if (has_inference && !has_outputs) return absl::DataLossError("provenance: has no inference with its outputs_key");
  if (has_training && !has_checkpoint)
    return absl::DataLossError("provenance: has no training with its checkpoint_key");
  return absl::OkStatus();
}

// Compares the record's keys with the keys of its trial's actions.
absl::Status CheckKeys(const TrialRecord& record, const std::vector<TrialAction>& actions) {
  std::string checkpoint, outputs, fit = "none";
  for (const TrialAction& action : actions) {
    if (action.kind == ActionKind::kTrain && action.role != ActionRole::kPretraining && action.member == 0) {
      checkpoint = ToHex(action.key);
    }
    if (action.kind == ActionKind::kInfer) (action.role == ActionRole::kFit ? fit : outputs) = ToHex(action.key);
  }
  struct Made {
    const char* field;
    const std::string &said, &key;
  };
  for (const Made& made :
       {Made{"checkpoint_key", record.checkpoint_key(), checkpoint}, Made{"outputs_key", record.outputs_key(), outputs},
        Made{"fit_outputs_key", record.fit_outputs_key(), fit}}) {
    if (!made.said.empty() && made.said != made.key) return InvalidId(made.field, made.key, made.said);
  }
  return absl::OkStatus();
}

}  // namespace

bool HasUnknownFields(const Message& message) {
  bool has = false;
  ForEachMessage(message,
                 [&](const Message& part) { has = has || !part.GetReflection()->GetUnknownFields(part).empty(); });
  return has;
}

std::vector<std::string> RaisedRevisions(const TrialSpec& trial) {
  std::set<std::string> raised;
  const Trial shared = trial;
  ActionMaker maker;
  for (const TrialAction& action : maker.ActionsOf(shared)) {
    ForEachMessage(*action.spec, [&](const Message& part) {
      const Descriptor* type = part.GetDescriptor();
      const int32_t now = type->options().GetExtension(revision);
      if (now > 1) raised.insert(absl::StrCat(type->full_name(), " ", now));
    });
  }
  return {raised.begin(), raised.end()};
}

absl::Status CheckTrialId(const TrialRecord& record) {
  const TrialSpec& trial = record.trial();
  const auto& then = record.provenance().raised_revision();
  const std::vector<FieldProblem> problems = FindProblems(trial.method());
  if (problems.empty()) {
    const Trial shared = trial;
    ActionMaker maker;
    const std::vector<TrialAction> actions = maker.ActionsOf(shared);
    const std::string id = ToHex(actions.back().key);
    if (id == record.trial_id()) return CheckKeys(record, actions);
    const bool is_comparable = !HasUnknownFields(trial) && absl::c_equal(then, RaisedRevisions(trial));
    return is_comparable ? InvalidId("trial_id", id, record.trial_id()) : CheckAgreement(record);
  }
  if (!then.empty() || HasUnknownFields(trial)) return CheckAgreement(record);
  return absl::DataLossError(absl::StrCat("trial.method.", problems[0].path, ": ", problems[0].message));
}

absl::Status DecodeSharedRecord(absl::string_view bytes, absl::string_view trial_id, TrialRecord* record) {
  OPENSET_RETURN_IF_ERROR(DecodeRecord(bytes, record));
  if (record->schema_version() != kSchemaVersion) {
    return absl::DataLossError(absl::StrCat("is of schema version ", record->schema_version(),
                                            ", this openset reads version ", kSchemaVersion));
  }
  if (record->trial_id() != trial_id) return absl::DataLossError("is the record of another trial");
  OPENSET_RETURN_IF_ERROR(CheckRecord(*record));
  return CheckTrialId(*record);
}

}  // namespace openset
