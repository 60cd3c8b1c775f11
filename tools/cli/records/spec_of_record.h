// Makes a study that reproduces a record.
#ifndef OPENSET_TOOLS_CLI_RECORDS_SPEC_OF_RECORD_H_
#define OPENSET_TOOLS_CLI_RECORDS_SPEC_OF_RECORD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"

namespace openset {

struct SpecThatRepeats {
  ExperimentSpec spec;
  // Why its trial's id couldn't be compared with the record's; "" if it is the same.
  std::string unchecked;
};

// Returns a study of one trial, named "again_<12 digits of its id>", and checks that the trial has the record's id. Its
// `override` has the settings. It overrides the record's own method or, if the libraries lack it or it has other parts,
// another method, and names it as the record does. Its task is the record's. The id depends on the data: if some of it
// is not on this machine, returns the study whose trial is nearest to the record's, unchecked. Errors: kNotFound if no
// library has the task; kFailedPrecondition for a candidate of a search, and if no such study has the id, with what
// differs: another version of the task, the data or the program.
absl::StatusOr<SpecThatRepeats> SpecOfRecord(const TrialRecord& record, const SpecFolders& folders, const Store& store,
                                             const StudyOptions& options);

// Returns the text of a file with the spec, and with comments that say what it is.
std::string SpecFile(const SpecThatRepeats& made, const TrialRecord& record);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_SPEC_OF_RECORD_H_
