#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/proto/field_differences.h"
#include "core/proto/schema.pb.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "experiments/action/stage.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/trial.h"
#include "experiments/store/merge.h"
#include "experiments/store/store_contents.h"
#include "experiments/study/source_changes.h"
#include "google/protobuf/descriptor.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/records/actions.h"
#include "tools/cli/records/bundle_records.h"

namespace openset {
namespace {

constexpr size_t kShownDigits = 12;

std::string Short(const std::string& key) { return key.substr(0, kShownDigits); }

std::string Clip(const std::string& text) {
  constexpr size_t kLongest = 100;
  return OneLine(text.size() <= kLongest ? text : absl::StrCat(text.substr(0, kLongest), " ..."));
}

// The current revision of a family's member in the schema; nothing if the member no longer exists.
std::optional<int> RevisionNow(const std::string& family, const std::string& name) {
  const auto* descriptor =
      TrialSpec::descriptor()->file()->pool()->FindMessageTypeByName(absl::StrCat("openset.", family));
  if (descriptor == nullptr) return std::nullopt;
  const auto* member = descriptor->FindFieldByName(name);
  if (member == nullptr || member->message_type() == nullptr) return std::nullopt;
  return member->message_type()->options().GetExtension(revision);
}

// "ScoreSpec.fdbd: revision 2, was 1", for each component of a record with another revision now.
std::vector<std::string> RevisionLines(const TrialRecord& record) {
  std::set<std::string> lines;
  for (const StageProvenance& stage : record.provenance().stage()) {
    for (const ComponentProvenance& component : stage.component()) {
      const std::optional<int> now = RevisionNow(component.family(), component.name());
      const std::string what = OneLine(absl::StrCat(component.family(), ".", component.name()));
      if (!now.has_value()) {
        lines.insert(absl::StrCat(what, ": no longer exists"));
      } else if (*now != component.revision()) {
        lines.insert(absl::StrCat(what, ": revision ", *now, ", was ", component.revision()));
      }
    }
  }
  return {lines.begin(), lines.end()};
}

// The state of a result in the store: "there", "not there", how it is corrupt, or why it can't be read, which goes to
// `unread` too.
std::string StateOf(const absl::Status& check, UnreadRecords* unread) {
  if (check.ok()) return "there, intact";
  if (absl::IsNotFound(check)) return "not there";
  if (!IsReadFailure(check)) return absl::StrCat("corrupt: ", check.message());
  unread->Add(check);
  return absl::StrCat("can't be read now: ", check.message());
}

// A line with the log of a training or an inference, if it is not empty.
void ShowLog(const Store& store, const std::string& key) {
  if (const std::string log = store.FindLog(key); !log.empty()) std::cout << "    its log: " << log << "\n";
}

// The checkpoint and the outputs that a store has of a record.
absl::Status ExplainFiles(const Store& store, const TrialRecord& record) {
  UnreadRecords unread;
  std::cout << "  record: " << store.RecordPath(record.trial_id()) << ", whole\n";
  std::set<std::string> seen;
  for (const StageProvenance& stage : record.provenance().stage()) {
    if (!seen.insert(stage.key()).second) continue;
    const bool is_train = stage.stage() == StageProvenance::TRAIN;
    if (!is_train && stage.stage() != StageProvenance::INFER && stage.stage() != StageProvenance::FIT) continue;
    const absl::Status check = is_train ? store.CheckCheckpoint(stage.key()) : store.CheckOutputs(stage.key());
    std::cout << "  " << (is_train ? "checkpoint " : "outputs ") << Short(stage.key()) << ": "
              << StateOf(check, &unread) << "\n";
    ShowLog(store, stage.key());
  }
  return unread.ReadFailure();
}

// The first action of the record's trial that has another key now: those after it depend on it.
void ShowFirstOtherKey(const TrialRecord& record) {
  const Trial trial = record.trial();
  ActionMaker maker;
  for (const TrialAction& action : maker.ActionsOf(trial)) {
    const std::string key = ToHex(action.key);
    const auto& stages = record.provenance().stage();
    if (absl::c_any_of(stages, [&](const auto& stage) { return stage.key() == key; })) continue;
    std::cout << "    the first action with another key is its " << StageOf(action.kind).Noun(action.role) << ", "
              << Short(key) << " now\n";
    return;
  }
}

// Whether this program would use the record again, and if not, why.
void ExplainKey(const TrialRecord& record) {
  const std::string& id = record.trial_id();
  const std::string now = TrialId(record.trial());
  const std::vector<std::string> revisions = RevisionLines(record);
  if (now == id) {
    std::cout << "  a study that has this trial finds this record: nothing would run again\n";
  } else {
    std::cout << "  a study that has this trial would run it again: its key is " << Short(now) << " now\n";
    if (revisions.empty()) std::cout << "    the schema of its actions has another revision, or new fields\n";
    ShowFirstOtherKey(record);
  }
  for (const std::string& line : revisions) std::cout << "    " << line << "\n";
  SourceChanges changes;
  changes.Add(id, record.provenance());
  for (const std::string& line : changes.Lines()) std::cout << "  " << line << "\n";
}

// Errors: kUnavailable if a result can't be read now.
absl::Status ExplainRecord(const Store& store, const TrialRecord& record) {
  std::cout << record.trial_id() << "\n  " << Describe(record.trial()) << "\n";
  const absl::Status problems = ExplainFiles(store, record);
  ExplainKey(record);
  return problems;
}

void ShowDifferences(const std::vector<FieldDifference>& differences) {
  for (const FieldDifference& difference : differences) {
    std::cout << "    " << OneLine(difference.path) << ": "
              << (difference.after.empty() ? "absent" : Clip(difference.after)) << ", was "
              << (difference.before.empty() ? "absent" : Clip(difference.before)) << "\n";
  }
}

// For an action that is not done: the number of attempts and how the last one ended.
void ShowFailures(const Store& store, const std::string& key, UnreadRecords* unread) {
  const absl::StatusOr<int> attempts = store.CountFailures(key);
  const absl::StatusOr<FailureRecord> last = store.LoadFailure(key);
  unread->Add(attempts.ok() ? last.status() : attempts.status());
  if (!attempts.ok() || *attempts == 0 || !last.ok()) return;
  std::cout << "    " << *attempts << (*attempts == 1 ? " attempt failed: " : " attempts failed, the last one: ")
            << absl::StrReplaceAll(last->message(), {{"\n", "\n      "}}) << "\n";
}

// Explains why a trial of a study has no record, by its differences from the nearest record.
absl::Status ExplainMissing(const Study& study, int trial) {
  const Plan& plan = study.plan();
  const std::string& id = plan.trial_id(trial);
  const TrialSpec wanted = plan.trials[trial].Spec();
  UnreadRecords unread;
  std::cout << id << "\n  " << Describe(plan.trials[trial]) << "\n";
  for (const Action& action : plan.actions) {
    if (!absl::c_linear_search(action.trials, trial)) continue;
    const auto damage = plan.damaged.find(action.id), unreadable = plan.unreadable.find(action.id);
    if (unreadable != plan.unreadable.end()) unread.unreadable.push_back(unreadable->second);
    const std::string why = damage != plan.damaged.end() ? absl::StrCat("runs: ", damage->second)
                            : unreadable != plan.unreadable.end()
                                ? absl::StrCat("can't be read now: ", unreadable->second)
                            : plan.redone.count(action.id) > 0 ? "runs: --redo"
                            : action.is_needed() && action.kind == ActionKind::kEvaluate
                                ? "will be evaluated: no stored result has exactly these metrics"
                            : action.is_needed() ? "runs: the store has no result with this key"
                            : action.is_done()   ? "done"
                                                 : "not needed";
    std::cout << "  " << KindName(action.kind) << " " << Short(action.key) << ": " << why << "\n";
    if (!action.is_done()) ShowFailures(study.store(), action.key, &unread);
    ShowLog(study.store(), action.key);
  }
  if (plan[plan.evaluations[trial]].is_done()) return unread.ReadFailure();
  constexpr int kWithout[] = {TrialRecord::kMetricFieldNumber, TrialRecord::kEpochFieldNumber,
                              TrialRecord::kDetailsFieldNumber};
  const std::vector<TrialRecord> records = LoadRecords(study.store(), &unread, kWithout);
  const TrialRecord* nearest = nullptr;
  std::vector<FieldDifference> differences;
  size_t least = 0;
  for (const TrialRecord& record : records) {
    size_t distance = 0;
    std::vector<FieldDifference> of_record = Distance(record.trial(), wanted, &distance);
    if (nearest != nullptr && distance >= least) continue;
    nearest = &record;
    least = distance;
    differences = std::move(of_record);
  }
  if (nearest == nullptr) {
    std::cout << "  the store has no record to compare it with\n";
    return unread.ReadFailure();
  }
  std::cout << "  the nearest record is " << Short(nearest->trial_id()) << ", " << Describe(nearest->trial()) << "; "
            << (differences.empty() ? "none of its fields differ:\n" : "differences:\n");
  ShowDifferences(differences);
  const std::vector<std::string> revisions = RevisionLines(*nearest);
  for (const std::string& line : revisions) std::cout << "    " << line << "\n";
  if (differences.empty() && revisions.empty()) {
    std::cout << "    the schema of its actions has another revision, or new fields\n";
  }
  return unread.ReadFailure();
}

// For a record that isn't in the study: the nearest trial of the study.
void ExplainNearest(const Study& study, const TrialRecord& record) {
  const Plan& plan = study.plan();
  size_t least = 0;
  std::optional<int> nearest;
  std::vector<FieldDifference> differences;
  for (size_t t = 0; t < plan.trials.size(); ++t) {
    size_t distance = 0;
    std::vector<FieldDifference> of_trial = Distance(record.trial(), plan.trials[t].Spec(), &distance);
    if (nearest.has_value() && distance >= least) continue;
    nearest = static_cast<int>(t);
    least = distance;
    differences = std::move(of_trial);
  }
  if (!nearest.has_value()) return;
  std::cout << "  " << study.name() << " has no such trial; the nearest is " << Short(plan.trial_id(*nearest)) << ", "
            << Describe(plan.trials[*nearest]) << "; differences:\n";
  ShowDifferences(differences);
}

// The trials of a study whose ids have this prefix.
std::vector<int> TrialsOf(const Study& study, const std::string& begin) {
  std::vector<int> found;
  for (size_t t = 0; t < study.plan().trials.size(); ++t) {
    if (absl::StartsWith(study.plan().trial_id(static_cast<int>(t)), begin)) found.push_back(static_cast<int>(t));
  }
  return found;
}

absl::Status RunExplain(std::vector<std::string> arguments, RunConfig config) {
  OPENSET_ASSIGN_OR_RETURN(const bool is_bundle, UseBundle(arguments[0], &config));
  if (is_bundle && arguments.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("name a trial of the bundle: openset explain ", arguments[0],
                                                   " TRIAL ('openset records ls ", arguments[0], "' lists them)"));
  }
  if (is_bundle) arguments.erase(arguments.begin());
  const std::string& trial = arguments[0];
  if (arguments.size() > 2) return absl::InvalidArgumentError(absl::StrCat(trial, ": is not a bundle (BUNDLE.zip)"));
  if (arguments.size() == 1) {
    OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kRead));
    OPENSET_ASSIGN_OR_RETURN(const std::string id, FindTrial(store, trial));
    OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, LoadFirstRecord(store, id));
    return ExplainRecord(store, record);
  }
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[1], config));
  const std::vector<int> found = TrialsOf(*study, trial);
  if (found.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(found.size(), " trials begin with '", trial, "'; give more digits"));
  }
  if (!found.empty()) return ExplainMissing(*study, found[0]);
  OPENSET_ASSIGN_OR_RETURN(const std::string id, FindTrial(study->store(), trial));
  OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, study->store().LoadRecord(id));
  const absl::Status problems = ExplainRecord(study->store(), record);
  ExplainNearest(*study, record);
  return problems;
}

}  // namespace

Command ExplainCommand() {
  Command command;
  command.name = "explain";
  command.arguments = "TRIAL [SPEC] | BUNDLE TRIAL [SPEC]";
  command.min_arguments = 1;
  command.max_arguments = 3;
  command.summary = "Explains why a trial would run again: which field, component revision or input changed.";
  command.description =
      "TRIAL is the first digits of an id, as `openset plan` and `openset records ls` show it. Without SPEC, it\n"
      "shows the trial's results in the store, the logs of its training and inference, and whether this program would\n"
      "find its record again. With SPEC, it shows why the study runs the trial, compared with the most similar\n"
      "record. For a BUNDLE.zip, without a store, it shows whether a study would find the record, and whether SPEC\n"
      "has the trial or how its most similar trial differs.\n"
      "\n"
      "  openset explain 3f2a91c0 lambda.textproto\n"
      "  openset explain results.zip 3f2a91c0 lambda.textproto\n";
  command.flags = {"deploy", "store", "devices", "data", "library", "redo"};
  AddChangeFlags(&command);
  command.run = RunExplain;
  return command;
}

}  // namespace openset
