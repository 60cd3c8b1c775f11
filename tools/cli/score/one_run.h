// Methods of one run: the same task, split, openness level and seed, so that they are compared on its samples.
#ifndef OPENSET_TOOLS_CLI_SCORE_ONE_RUN_H_
#define OPENSET_TOOLS_CLI_SCORE_ONE_RUN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/report/report.h"
#include "experiments/study/study.h"

namespace openset {

// Returns the results of a study that have records; none if the store has outputs of none of them, as a bundle without
// outputs. Errors: a read error other than kNotFound (core/files/system_calls.h).
absl::StatusOr<std::vector<TrialResult>> WithOutputs(const Study& study, const StudyResults& results);

// Whether results are of one run and two or more methods.
bool AreOfOneRun(const std::vector<TrialResult>& results);

// The index of the result whose value of `metric` on all unknown samples is best. Absent if no record has one.
std::optional<int> BestOf(const std::vector<TrialResult>& results, const std::string& metric);

// Marks in the report of a study, for each level of which it has one run, the best AUROC on all unknown samples, and
// those that a paired test on the test samples doesn't tell apart from it (ReportCell.among_best), and adds a note that
// says so. The test is DeLong's or, for samples in clusters, the paired bootstrap with 10,000 replicates; p-values are
// corrected by Holm's method, and 0.05 or more is not told apart. Scores that the recorded values alone tell apart, by
// a bound of DeLong's standard error, are not computed again. Does nothing without the metric auroc or without
// outputs. Errors: kNotFound or kDataLoss if outputs of one of these results are missing or corrupt; kInvalidArgument
// if they can't be scored, or the results' labels or groups differ; kFailedPrecondition for fewer than two known or two
// unknown samples; kUnimplemented if a newer openset wrote them; a read failure (IsReadFailure() in
// experiments/store/store.h).
absl::Status MarkAmongBest(const Study& study, const StudyResults& results, Report* report);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SCORE_ONE_RUN_H_
