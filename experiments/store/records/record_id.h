// Checks that a record has the id of its trial. The id identifies the record's content: it is the digest of the trial's
// last action (experiments/spec/resolve/actions.h), so it can be recomputed from the record.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_ID_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_ID_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"
#include "google/protobuf/message.h"

namespace openset {

// Returns those schemas of the trial's actions whose revision is above the first one (1), sorted and without
// duplicates: "openset.GenSpec 2". A record stores this (Provenance.raised_revision), so that readers know whether they
// can recompute its keys.
std::vector<std::string> RaisedRevisions(const TrialSpec& trial);

// Whether the message or one in it has fields that this program doesn't know.
bool HasUnknownFields(const google::protobuf::Message& message);

// Recomputes the record's keys from its trial (id, checkpoint, outputs) and compares them. The keys can't be recomputed
// if the trial was made with other revisions than the current ones, as the record states, or has fields of a later
// openset that are unknown here. Then the record must be consistent: its stages must have the keys that it states.
// Precondition: CheckRecord() succeeds.
// Errors: kDataLoss if a key differs, "trial_id: is ab12..., but the trial gives cd34...", or if the method is
// incomplete, with the field.
absl::Status CheckTrialId(const TrialRecord& record);

// Decodes the bytes of an untrusted record file, for the trial with this id. Errors: kDataLoss if it is corrupt or of
// another trial or schema version, breaks a rule (CheckRecord()), or has keys that its trial doesn't give
// (CheckTrialId()); kUnimplemented for a newer layout.
absl::Status DecodeSharedRecord(absl::string_view bytes, absl::string_view trial_id, TrialRecord* record);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_RECORD_ID_H_
