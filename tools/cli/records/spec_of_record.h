// Back from a record to a study that makes it again.
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

// The study of one trial, "again_<12 digits of its id>", whose trial has the record's id: that is checked. The settings
// are in its `override`, over the record's own method, or over another one of the libraries where that one is not there
// or has other parts; its task is that of the record's name. Errors: kNotFound where no library here has the task;
// kFailedPrecondition for a candidate of a search, and where no such study has the id, with what differs: another
// version of the task, the data or the program.
absl::StatusOr<ExperimentSpec> SpecOfRecord(const TrialRecord& record, const SpecFolders& folders, const Store& store,
                                            const StudyOptions& options);

// As a file: with the lines that say what it is.
std::string SpecFile(const ExperimentSpec& spec, const TrialRecord& record);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_SPEC_OF_RECORD_H_
