// Records as named values, and queries on them: `openset records ls 'method=openauc and openauc>0.9'`.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_FIELDS_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_FIELDS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"

namespace openset {

// How values of a field compare: texts by their bytes, integers exactly, real numbers by value ("0.10" = "0.1").
enum class FieldKind { kText, kInteger, kReal };

struct RecordField {
  std::string name;
  std::string value;
  FieldKind kind = FieldKind::kText;

  bool operator==(const RecordField& other) const {
    return name == other.name && value == other.value && kind == other.kind;
  }
};

// In this order: trial, method, task, split, seed, the swept fields by their names, stop_after_epochs if the training
// was stopped (the rungs of a search), changed (what the command line changed in the study, TrialSpec.overrides, with
// spaces between; empty without changes), each metric of the pool by its name (absent if it is undefined),
// "GROUP.METRIC" for other groups (with "_" for spaces of the group), unknown_classes, openness, measured_on
// ("validation" for the candidates of searches, otherwise "test"), experiment, tag (several with commas between; absent
// if there is none), device, host, commit. Split, seed, stop_after_epochs and unknown_classes are integers; openness
// and metrics are real numbers, in full precision. A swept field has the kind that the schema of methods gives it; text
// if the method has no number with its value.
using RecordFields = std::vector<RecordField>;
inline constexpr char kMeasuredOn[] = "measured_on", kValidation[] = "validation";
RecordFields FieldsOf(const TrialRecord& record);
// The numbers of the fields of TrialRecord that FieldsOf() doesn't use, which are most of a record.
inline constexpr int kNotInFields[] = {TrialRecord::kEpochFieldNumber, TrialRecord::kDetailsFieldNumber};

// Returns the field with this name; null if there is none.
const RecordField* Find(const RecordFields& fields, absl::string_view name);

// Whether `a` sorts before `b`: numbers by value and before texts, texts by their bytes, absent fields (null) last.
bool Before(const RecordField* a, const RecordField* b);

// A query such as "method=openauc and openauc>0.9 or seed=1": comparisons by =, !=, <, <=, >, >= and ~ (the field's
// value contains the text), joined by `and`, which binds more tightly, and `or`, without parentheses. A value with
// spaces must be quoted.
// Fields compare as their kind says. "trial=abcd" holds for each id that begins so, "tag=a" if one of the tags is a. A
// comparison with a field that a record lacks is false; so is one by <, <=, > or >= between a number and a text.
class RecordQuery {
 public:
  // Matches all records.
  RecordQuery() = default;

  // Errors: kInvalidArgument with the part that can't be parsed, and for a blank text, which is probably a mistake.
  static absl::StatusOr<RecordQuery> Parse(absl::string_view text);

  bool Matches(const RecordFields& fields) const;

  // The names of the fields in the query.
  std::vector<std::string> names() const;

  // The trials of the records that match, in their order.
  std::vector<std::string> TrialsOf(const std::vector<RecordFields>& records) const;

  // The values with which this field is compared by =.
  std::vector<std::string> ValuesOf(absl::string_view name) const;

  // Replaces field names, and methods after = and !=, that do not occur in the records by those that the user probably
  // means (core/text/synonyms.h). Errors: kInvalidArgument for fewer digits of a trial than FindTrial() takes and, if
  // there are records, for a query that fits none of them: a field that no record has (the message lists the known
  // ones), a number compared with something else, or an order comparison of texts with a number.
  absl::Status Resolve(const std::vector<RecordFields>& records);

  // What a query that no record matches probably meant, a line for each comparison that looks wrong: with a text that
  // only longer values begin with ("openauc" of "openauc+laptop"), or with a percentage, if all values are shares.
  std::vector<std::string> HintsAbout(const std::vector<RecordFields>& records) const;

 private:
  struct Comparison {
    std::string name;
    std::string op;
    std::string value;
  };
  static absl::StatusOr<Comparison> ParseComparison(absl::string_view text);
  static std::set<std::string> ValuesThatBegin(const Comparison& one, const std::vector<RecordFields>& records);
  static bool Holds(const Comparison& comparison, const RecordFields& fields);
  static absl::Status CheckMakesSense(const Comparison& comparison, const std::vector<RecordFields>& records);

  std::vector<std::vector<Comparison>> any_of_all_;
};

// If there are records, returns kInvalidArgument, with the known names, for a name that no record has and that
// FieldsOf() gives to no record.
absl::Status CheckNames(const std::vector<std::string>& names, const std::vector<RecordFields>& records);

// ---- Loads a store's records as named values.

// Returns the fields of each trial's representative record (LoadFirstRecord() in experiments/store/merge.h), in the
// order of the ids. Reads on all CPUs, and parses only the parts of a record that have names. Folders and records that
// can't be read go to `unread`.
std::vector<RecordFields> LoadFields(const Store& store, UnreadRecords* unread);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_FIELDS_H_
