// Records as named values, and queries on them: `openset records ls 'method=openauc and openauc>0.9'`.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_FIELDS_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_FIELDS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Names and values, in this order: trial, method, task, split, seed, the swept fields by their names, stop_after_epochs
// if the training was stopped (the rungs of a search), each metric of the pool by its name (absent if it is undefined),
// "GROUP.METRIC" for other groups (with "_" for spaces of the group), unknown_classes, openness, experiment, device,
// host, commit. Numbers are in full precision.
using RecordFields = std::vector<std::pair<std::string, std::string>>;
RecordFields FieldsOf(const TrialRecord& record);

// Returns the value of a name; null if there is none.
const std::string* Find(const RecordFields& fields, absl::string_view name);

// Whether `a` sorts before `b`: numbers by value and before texts, texts by their bytes, absent values (null) last.
bool Before(const std::string* a, const std::string* b);

// A query such as "method=openauc and openauc>0.9 or seed=1": comparisons by =, !=, <, <=, >, >= and ~ (the field's
// value contains the text), joined by `and`, which binds more tightly, and `or`. Numbers are compared by value ("0.10"
// = "0.1"), other values as text; a value with spaces must be quoted. A comparison with a field that a record lacks is
// false; so is one between a number and a text by <, <=, > or >=.
class RecordQuery {
 public:
  // "": matches all records. Errors: kInvalidArgument with the part that can't be parsed.
  static absl::StatusOr<RecordQuery> Parse(absl::string_view text);

  bool Matches(const RecordFields& fields) const;

  // The names of the fields in the query.
  std::vector<std::string> names() const;

  // Replaces field names, and methods after = and !=, that do not occur in the records by those that the user probably
  // means (core/text/synonyms.h). If there are records, kInvalidArgument for a query that fits none of them: a field
  // that no record has (the message lists the known ones), or an order comparison between a number and a text.
  absl::Status Resolve(const std::vector<RecordFields>& records);

 private:
  struct Comparison {
    std::string name;
    std::string op;
    std::string value;
  };
  static absl::StatusOr<Comparison> ParseComparison(absl::string_view text);
  static bool Holds(const Comparison& comparison, const RecordFields& fields);

  std::vector<std::vector<Comparison>> any_of_all_;
};

// If there are records, returns kInvalidArgument, with the known names, for a name that no record has.
absl::Status CheckNames(const std::vector<std::string>& names, const std::vector<RecordFields>& records);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_FIELDS_H_
