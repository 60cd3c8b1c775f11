// Whether a record is that of the trial whose id it bears. An id says what is in the record: it is the digest of the
// trial's last action (experiments/spec/resolve/actions.h), so whoever has the record can compute it again.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_ID_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_ID_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Of the schemas that the trial's actions are made of, those whose revision is above the first one (2 of an action, 1
// of anything else): "openset.GenSpec 2", sorted, each once. A record keeps it (Provenance.raised_revision), so that it
// is known whether its keys can be computed again later on.
std::vector<std::string> RaisedRevisions(const TrialSpec& trial);

// Computes the record's keys from its trial: id, checkpoint, outputs. They can't be computed for a trial that was made
// with other revisions than today's, as the record says, or by a later openset whose fields are not known here. Then
// the record has to agree with itself: its stages have the keys that it was made of. Precondition: CheckRecord().
// Errors: kDataLoss, "trial_id: is ab12..., and that of the trial is cd34..."; for a method that lacks something, the
// field.
absl::Status CheckTrialId(const TrialRecord& record);

// Reads the bytes of a record file that may be anybody's, of the trial of this id. Errors: kDataLoss for what is
// damaged, of another trial or schema version, and those of CheckRecord() and CheckTrialId(); kUnimplemented for
// another layout.
absl::Status DecodeSharedRecord(absl::string_view bytes, absl::string_view trial_id, TrialRecord* record);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_ID_H_
