// Records of several stores in one. Whatever the order in which stores are merged, the result has the same records, and
// the same one stands for each trial; which of them lies in records/, and which in replicas/, is told by who came
// first.
#ifndef OPENSET_EXPERIMENTS_STORE_MERGE_H_
#define OPENSET_EXPERIMENTS_STORE_MERGE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// All records of a trial, by the time at which their evaluation began, then by their bytes: the same order in every
// store. The first stands for the trial. Errors: those of Store::LoadRecord() and CheckTrialId(); a replica that is
// damaged or not what it says is left out.
absl::StatusOr<std::vector<TrialRecord>> LoadReplicas(const Store& store, const std::string& trial_id);

// The one that stands for the trial: Store::LoadRecord() where there is one only.
absl::StatusOr<TrialRecord> LoadFirstRecord(const Store& store, const std::string& trial_id);

// Whether they have the same metrics with the same values, to the bit, or lack them for the same reason.
bool SameNumbers(const TrialRecord& a, const TrialRecord& b);

struct MergeCounts {
  int trials = 0;                    // that were new
  int there = 0;                     // record files that were there already, byte by byte
  int replicas = 0;                  // of trials that were there, with the same numbers
  int differing = 0;                 // with other numbers
  int outputs = 0, checkpoints = 0;  // that were new
  std::vector<std::string> damaged;  // "PATH: ...": left out, as damaged, of another version, or not what it says
};

// Adds a record file that was decoded to `record`. Errors: those of writing.
absl::Status MergeRecord(const Store& into, const TrialRecord& record, const std::string& bytes, MergeCounts* counts);

// Adds all records of a store, or of a bundle (experiments/store/bundle.h), that are what they say
// (DecodeSharedRecord() in experiments/store/records/record_id.h), and a bundle's outputs and checkpoints that match
// their checksums and are not there yet. `library`, if it is there, gets the files that a bundle has of libraries:
// "tasks/NAME.textproto" and its content. Errors: kNotFound where neither is; kFailedPrecondition for a store or bundle
// of another schema version; those of ReadBundle() and of writing.
absl::Status MergeFrom(const std::string& store_or_bundle, const Store& into, MergeCounts* counts,
                       std::map<std::string, std::string>* library = nullptr);

// Where records of one trial with different numbers differ: a line a metric, "openauc: lab-a (AVX2) 0.91; lab-b
// (DEFAULT) 0.93", or "openauc: 0.91 to 0.93 in 9 of 9 records" where they are more than four, and "made with other
// ...: cpu, libtorch_version". None where all have the same numbers.
std::vector<std::string> DifferenceLines(const std::vector<TrialRecord>& records);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_MERGE_H_
