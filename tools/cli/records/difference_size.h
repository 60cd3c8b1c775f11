// How large the differences between a trial's numbers and those of its repetition are.
#ifndef OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_
#define OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Returns a line for each metric that differs, which compares the change with the spread of the records of the same
// study, method, values, task and level of openness: "auroc: changed by 0.0019, 0.12 times the standard deviation over
// seeds of a split (0.016; 8 runs on 4 splits)". This deviation is pooled over splits (the squares about each split's
// mean, divided by runs - splits), so that differences between splits don't count. With fewer than two degrees of
// freedom, it is the sample standard deviation over all runs. With fewer than three runs, returns one line that says
// so. Returns nothing if no number differs. `stored` may have other trials too; candidates of searches are ignored.
std::vector<std::string> DifferenceSizeLines(const TrialRecord& record, const TrialRecord& again,
                                             absl::Span<const TrialRecord> stored);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_
