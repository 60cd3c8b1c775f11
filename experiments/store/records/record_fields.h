// A record as named values, and questions about them: `openset records ls 'method=openauc and openauc>0.9'`.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_FIELDS_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_FIELDS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Name and value, in this order: trial, method, task, split, seed, the swept fields by their names, stop_after_epochs
// where a training was stopped (the rungs of a search), each metric of the pool by its name (absent where it is
// undefined), "GROUP.METRIC" of other groups (spaces of the group are "_"), unknown_classes, openness, experiment,
// device, host, commit. Numbers are in full precision.
using RecordFields = std::vector<std::pair<std::string, std::string>>;
RecordFields FieldsOf(const TrialRecord& record);

// The value of a name; null if there is none.
const std::string* Find(const RecordFields& fields, absl::string_view name);

// Orders numbers by value and before texts, texts by their bytes, what is absent (null) last.
bool Before(const std::string* a, const std::string* b);

// "method=openauc and openauc>0.9 or seed=1": comparisons by =, !=, <, <=, >, >= and ~ (the value is in it), joined by
// `and`, which binds closer, and `or`. Numbers are compared by value ("0.10" = "0.1"), other values by their text; a
// value with spaces stands in quotes. A comparison with a field that a record lacks is false; so is one of a number
// with a text by <, <=, > or >=.
class RecordQuery {
 public:
  // "": all records. Errors: kInvalidArgument with what can't be read.
  static absl::StatusOr<RecordQuery> Parse(absl::string_view text);

  bool Matches(const RecordFields& fields) const;

  // The fields it asks for.
  std::vector<std::string> names() const;

  // Takes fields, and methods behind = and !=, that the records don't have for those that people mean by them
  // (core/text/synonyms.h). kInvalidArgument for what can be asked of none of the records, as long as there are some: a
  // field that no record has, with the known ones; whether a number is less than a text, or a text than a number.
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

// kInvalidArgument, with the known ones, for a name that no record has, as long as there are records.
absl::Status CheckNames(const std::vector<std::string>& names, const std::vector<RecordFields>& records);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_FIELDS_H_
