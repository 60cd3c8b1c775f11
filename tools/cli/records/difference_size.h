// How large the differences between a trial's numbers and those of its repetition are.
#ifndef OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_
#define OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Beside what the records of the same study, method, values, task and level of openness vary by, a line a metric that
// differs: "auroc: changed by 0.0019, 0.12 times the standard deviation over seeds of a split (0.016; 8 runs on 4
// splits)". The deviation over seeds is that of all splits together (squares about each split's mean, divided by runs -
// splits), which leaves out how splits differ; where that would be over fewer than two degrees of freedom, it is the
// sample standard deviation over all runs. Fewer than three runs: one line that says so. Nothing where no number
// differs. `stored`: records that may have other trials too; candidates of searches don't count.
std::vector<std::string> DifferenceSizeLines(const TrialRecord& record, const TrialRecord& again,
                                             absl::Span<const TrialRecord> stored);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_DIFFERENCE_SIZE_H_
