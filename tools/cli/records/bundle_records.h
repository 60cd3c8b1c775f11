// The records of a bundle, and the specs, tasks and catalog entries that records use.
#ifndef OPENSET_TOOLS_CLI_RECORDS_BUNDLE_RECORDS_H_
#define OPENSET_TOOLS_CLI_RECORDS_BUNDLE_RECORDS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/proto/field_differences.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// What to do with two bundles.
inline constexpr char kCompareBundles[] =
    "To compare the records of two bundles, 'openset records merge A.zip B.zip --store=NEW' names the trials with "
    "different numbers, and 'openset records board OUT A.zip B.zip' writes a page of both";

// Returns the files that the records' trials name ("tasks/NAME.textproto") with their content, from the libraries. A
// spec is included only if it is the file that made a record (TrialSpec.spec_sha256). Files that are not found are left
// out, with a line in `left_out`.
std::map<std::string, std::string> LibraryOfRecords(const std::vector<TrialRecord>& records, const SpecFolders& folders,
                                                    std::vector<std::string>* left_out);

// If the store is a bundle, writes its library below `folder` and adds it to `folders`, and then the folder of a
// published study, PETS of PETS/PETS.zip, because it may contain methods of the spec. Errors: a write error
// (core/files/files.h).
absl::Status AddLibraryOf(const Store& store, const std::string& folder, SpecFolders* folders);

// If `status`, which SpecOfRecord() returned for the record, says that its task is in no library, adds how the owner of
// a bundle can add the task. Otherwise returns `status`.
absl::Status WithMissingLibrary(const absl::Status& status, const Store& store, const TrialRecord& record);

// The fields in which two trials differ. Their distance is the number of these fields, and more if the labels differ.
std::vector<FieldDifference> Distance(const TrialSpec& before, const TrialSpec& after, size_t* distance);

// Checks that a study's bundle has a record of one of its trials. Otherwise its spec has been changed, or the bundle is
// another study's: kFailedPrecondition with the first field that differs, or with the other study. A store and an empty
// bundle are always fine.
absl::Status CheckIsOfBundle(const Study& study);

// The spec of the study that made all of these records, from the library of their bundle. Empty if several studies made
// them, and if the bundle doesn't have it.
ExperimentSpec SpecInBundle(const Store& bundle, const std::vector<TrialRecord>& records);

// A line if trials of the study that made all records of the bundle have none: "3 of 12 trials of the study ...".
// Nothing if this isn't known: without SpecInBundle(), if the command line changed the study, or if a method or data of
// it is not on this machine.
std::vector<std::string> MissingTrialLines(const Store& bundle, const std::vector<TrialRecord>& records,
                                           const RunConfig& config);

// All records of the bundle `argument`, the first of each trial. Errors: kAborted if some are corrupt.
// `spec`, unless it is null, receives SpecInBundle().
absl::StatusOr<std::vector<TrialRecord>> RecordsOfBundle(const std::string& argument, RunConfig config,
                                                         ExperimentSpec* spec = nullptr);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_BUNDLE_RECORDS_H_
