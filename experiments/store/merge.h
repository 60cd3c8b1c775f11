// Merges the records of several stores into one. The order of merging does not change the set of records, nor which of
// several records represents a trial. It only decides which of them is in records/ and which are in replicas/.
#ifndef OPENSET_EXPERIMENTS_STORE_MERGE_H_
#define OPENSET_EXPERIMENTS_STORE_MERGE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"

namespace openset {

// The order of a trial's records, the same in every store and for every reader: by the start of their evaluation, then
// by their bytes without epochs and details, because some readers skip those. Returns a negative number if `a` comes
// first, and 0 if nothing else differs.
int CompareOrder(const TrialRecord& a, const TrialRecord& b);

// All records of a trial in CompareOrder(). The first one represents the trial. Leaves out replicas that are corrupt or
// belong to another trial. Errors: kNotFound if the store has no record of the trial; kDataLoss if the one in records/
// is corrupt, has another id or schema version, or something other than a folder is where the replicas should be;
// kUnimplemented if a newer openset wrote it; a read failure (IsReadFailure() in experiments/store/store.h).
absl::StatusOr<std::vector<TrialRecord>> LoadReplicas(const Store& store, const std::string& trial_id);

// The record that represents the trial. If there is only one, this is Store::LoadRecord(). The same errors.
absl::StatusOr<TrialRecord> LoadFirstRecord(const Store& store, const std::string& trial_id);
// The record that represents each trial, like LoadRecords() (experiments/store/store_contents.h).
std::vector<TrialRecord> LoadFirstRecords(const Store& store, UnreadRecords* unread,
                                          absl::Span<const int> without = {});

// Whether two records have the same metrics with the same values, to the bit, and the same reasons for absent ones.
bool SameNumbers(const TrialRecord& a, const TrialRecord& b);

struct MergeCounts {
  int trials = 0;                    // new trials
  int there = 0;                     // record files that the store already had, with the same bytes
  int replicas = 0;                  // further records of existing trials, with the same numbers
  int differing = 0;                 // further records with other numbers
  int outputs = 0, checkpoints = 0;  // new ones
  std::vector<std::string> damaged;  // "PATH: ...": left out because corrupt, of another version, or of another trial
  std::vector<std::string> unreadable;  // left out because they can't be read now (UnreadRecords::unreadable)
};

// Adds a record file. `record` is its decoded content. Errors: a write error (core/files/files.h); kFailedPrecondition
// if `into` is a bundle. For the trial's records that `into` has already: as LoadReplicas().
absl::Status MergeRecord(const Store& into, const TrialRecord& record, const std::string& bytes, MergeCounts* counts);

// Reads a whole bundle, or the version of a store: the errors that MergeFrom() returns because of `store_or_bundle`,
// before anything is written.
absl::Status CheckMergeSource(const std::string& store_or_bundle);

// Adds all valid records of a store or a bundle (DecodeSharedRecord() in experiments/store/records/record_id.h;
// experiments/store/bundle.h), and a bundle's new outputs and checkpoints if they match their checksums. Errors:
// kNotFound if there is neither a store nor a bundle; kFailedPrecondition for another schema version, or a newer kind
// of bundle; kDataLoss if the bundle is corrupt; a read failure of the bundle, or of a store's file `version`; as
// MergeRecord() for `into`.
absl::Status MergeFrom(const std::string& store_or_bundle, const Store& into, MergeCounts* counts);

// Opens a bundle as a store that can't be changed. `with_results`: unpacks its outputs and checkpoints too. Records,
// outputs and checkpoints that MergeFrom() would leave out are left out and named (BundleContent.damaged). Errors:
// kNotFound; kDataLoss if it is corrupt or not a bundle; kFailedPrecondition for another schema version, or a newer
// kind of bundle; a read failure; with `with_results` also a write error, of a temporary folder.
// The records are checked, and then kept without the fields of TrialRecord that have the numbers `without`: details are
// most of their memory.
absl::StatusOr<Store> OpenBundle(const std::string& path, bool with_results = false,
                                 absl::Span<const int> without = {});

// The kind of CPU or GPU whose kernels computed a record's outputs: vendor and LibTorch's kernels, "Intel, AVX512"; of
// a GPU its name. "" if the record doesn't say. Only records of one kind can have the same bits.
std::string KindOfMachine(const TrialRecord& record);

// Returns "compiler (\"gcc 12\"; \"gcc 13\")" for each field about the program and the machine in which stages of the
// records differ. Of lists (libraries, components, instruction sets of the processor), only the entries that differ.
std::vector<std::string> ProvenanceDifferences(const std::vector<TrialRecord>& records);

// Whether two of a trial's records have the same provenance, to the second of their evaluation, and different numbers:
// one of them was changed after it was made.
bool ContradictEachOther(const std::vector<TrialRecord>& records);

// Describes how the numbers of one trial's records differ. One line for each metric, "openauc: lab-a (AVX2) 0.91; lab-b
// (DEFAULT) 0.93", or, for more than four records, "openauc: 0.91 to 0.93 in 9 of 9 records"; then "made with other
// ...: cpu, libtorch_version". Empty if all have the same numbers.
std::vector<std::string> DifferenceLines(const std::vector<TrialRecord>& records);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_MERGE_H_
