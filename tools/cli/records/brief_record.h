// A summary of a record in about twenty lines.
#ifndef OPENSET_TOOLS_CLI_RECORDS_BRIEF_RECORD_H_
#define OPENSET_TOOLS_CLI_RECORDS_BRIEF_RECORD_H_

#include <string>

#include "absl/time/time.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Says what was measured, the numbers of the pool in their units, how the network was trained, on which machine, by
// which program, and when (the date in the local time zone, and the time before `now`).
std::string BriefText(const TrialRecord& record, absl::Time now);

// "5 minutes", "3 hours", "12 days": in the largest unit that gives at least two, rounded down.
std::string AgeText(absl::Duration age);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_BRIEF_RECORD_H_
