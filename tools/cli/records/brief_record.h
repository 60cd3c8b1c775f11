// A record in twenty lines, for people.
#ifndef OPENSET_TOOLS_CLI_RECORDS_BRIEF_RECORD_H_
#define OPENSET_TOOLS_CLI_RECORDS_BRIEF_RECORD_H_

#include <string>

#include "absl/time/time.h"
#include "experiments/store/record.proto.h"

namespace openset {

// What was measured, the numbers of the pool in their units, how it was trained, where and by what, and when ("3 days
// before" `now`; dates in the local time zone).
std::string BriefText(const TrialRecord& record, absl::Time now);

// "5 minutes", "3 hours", "12 days": the largest unit of which there are two or more, rounded down.
std::string AgeText(absl::Duration age);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_BRIEF_RECORD_H_
