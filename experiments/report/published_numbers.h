// Adds published numbers to a report, with possible reasons for the differences.
#ifndef OPENSET_EXPERIMENTS_REPORT_PUBLISHED_NUMBERS_H_
#define OPENSET_EXPERIMENTS_REPORT_PUBLISHED_NUMBERS_H_

#include <vector>

#include "absl/types/span.h"
#include "experiments/published/published.pb.h"
#include "experiments/report/report.h"
#include "experiments/spec/experiment.proto.h"

namespace openset {

// Adds the numbers of `tables` (`spec.published`, in the same order) to the cells that measure the same
// (FindPublished() in experiments/published/published.h). The spec says which published name corresponds to which of
// ours. If the numbers of single splits are published for all splits of a cell, it is compared with their mean.
// Possible reasons for a difference are: another method, task or convention, fewer epochs, other data, fewer values.
// Precondition: the report was made from `results`.
void AddPublished(const ReportSpec& spec, const std::vector<PublishedTable>& tables,
                  absl::Span<const TrialResult> results, Report* report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_PUBLISHED_NUMBERS_H_
