// Checks that an untrusted record is plausible.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_CHECK_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "experiments/store/record.proto.h"
#include "google/protobuf/message.h"

namespace openset {

// Checks the rules that record.proto and details.proto state in their fields' options (core/proto/schema.proto), and
// consistency: a metric and its interval lie within the limits of its traits (eval/metrics/metric.proto; aurc and
// augrc, whose other forms exceed theirs by a sample's share, within 1); no metric occurs twice; each metric of the
// trial is there, with or without a value, in each group (MetricGroupsOf()); all series of a density have the same
// number of bins; the x of a curve ascend; decisions count no more samples than there are; cells of the confusion and
// labels of mistakes refer to existing classes; mistakes refer to rows of the test. The trial must obey its rules, but
// may be incomplete. Does not check the fields with the numbers `without`, which the file has but which were not read,
// nor whether the id matches the trial (CheckTrialId() in experiments/store/records/record_id.h). Errors: kDataLoss for
// the first violation: "details.mistake[3].row: must be at least 0 (is -5)".
absl::Status CheckRecord(const TrialRecord& record, absl::Span<const int> without = {});

// Checks that the record has each metric of its trial, with or without a value, in each group (MetricGroupsOf(); other
// groups than the pool only if the metric depends on unknown samples). Precondition: CheckRecord() succeeds. Errors:
// kDataLoss for the first that it lacks.
absl::Status CheckMetricsOfTrial(const TrialRecord& record);

// Checks the rules of the schema of a summary, a failure or a manifest. Errors: kDataLoss, as above.
absl::Status CheckMessage(const google::protobuf::Message& message);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_CHECK_H_
