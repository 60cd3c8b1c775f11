// Published numbers beside those of a report, and what the difference may be due to.
#ifndef OPENSET_EXPERIMENTS_REPORT_PUBLISHED_NUMBERS_H_
#define OPENSET_EXPERIMENTS_REPORT_PUBLISHED_NUMBERS_H_

#include <vector>

#include "absl/types/span.h"
#include "experiments/published/published.pb.h"
#include "experiments/report/report.h"
#include "experiments/spec/experiment.proto.h"

namespace openset {

// Puts the numbers of `tables`, those of `spec.published` in their order, into the cells that measure the same
// (FindPublished, experiments/published/published.h), under the names that the spec gives for names of ours. A cell
// whose splits are all known there one by one is compared with their mean. What the difference may be due to: another
// method, task or convention than ours, fewer epochs, other data, fewer values. Cells without a published number stay
// as they are. Precondition: `results` are those that the report was made of.
void AddPublished(const ReportSpec& spec, const std::vector<PublishedTable>& tables,
                  absl::Span<const TrialResult> results, Report* report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_PUBLISHED_NUMBERS_H_
