// Whether a record can be what it says: anybody may have written it.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_CHECK_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "experiments/store/record.proto.h"
#include "google/protobuf/message.h"

namespace openset {

// The rules that record.proto and details.proto state beside the fields (core/proto/schema.proto), and what fits
// together: the bins of a density are as many in each series, the x of a curve ascend, decisions count no more samples
// than there are, cells of the confusion and labels of mistakes name classes that are there, mistakes are rows of the
// test. The trial obeys its rules, but may lack things. Nothing is checked of the fields with the numbers `without`,
// which were there and are not read. Whether the id is that of the trial: CheckTrialId() in
// experiments/store/records/record_id.h.
// Errors: kDataLoss for the first thing that can't be: "details.mistake[3].row: must be at least 0 (is -5)".
absl::Status CheckRecord(const TrialRecord& record, absl::Span<const int> without = {});

// A summary, a failure, a manifest: the rules of its schema. Errors: kDataLoss, as above.
absl::Status CheckMessage(const google::protobuf::Message& message);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_CHECK_H_
