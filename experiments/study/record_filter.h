// Which of a study's missing records a run makes (`openset run --only=...`).
#ifndef OPENSET_EXPERIMENTS_STUDY_RECORD_FILTER_H_
#define OPENSET_EXPERIMENTS_STUDY_RECORD_FILTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "experiments/plan/planner.h"
#include "experiments/store/store.h"

namespace openset {

inline constexpr char kOnlyChanged[] = "changed";

// "failed":  records with a failed action: the store has its last attempt, and it has not succeeded since.
// "missing": records without a failed action.
// "changed": records whose stored results are to be made again (Plan.redone).
// "":        all; returns null.
// Errors: kInvalidArgument for any other word.
absl::StatusOr<RecordFilter> MakeRecordFilter(const std::string& only, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_RECORD_FILTER_H_
