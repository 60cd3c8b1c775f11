// Which of a study's missing records a run makes: `openset run --only=...`.
#ifndef OPENSET_EXPERIMENTS_STUDY_RECORD_FILTER_H_
#define OPENSET_EXPERIMENTS_STUDY_RECORD_FILTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "experiments/plan/planner.h"
#include "experiments/store/store.h"

namespace openset {

inline constexpr char kOnlyChanged[] = "changed";

// "failed": those that an action failed for, at an attempt that the store has now, and has not been done since;
// "missing": those that none failed for; "changed": those whose results in the store are to be made again
// (Plan.redone); "": null, all of them. Errors: kInvalidArgument for another word.
absl::StatusOr<RecordFilter> MakeRecordFilter(const std::string& only, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_RECORD_FILTER_H_
