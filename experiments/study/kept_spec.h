// The spec of a study as it was last run, which the store keeps beside its reports: for readers who have the store
// alone.
#ifndef OPENSET_EXPERIMENTS_STUDY_KEPT_SPEC_H_
#define OPENSET_EXPERIMENTS_STUDY_KEPT_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/store/store.h"

namespace openset {

// Writes the spec to reports/REPORT_NAME/spec.textproto: the file as it is written or, if the command line changed it,
// the lines of ChangedSpecLines(). Errors: those of writing.
absl::Status KeepSpec(const Experiment& experiment, const Store& store, const std::string& report_name);

struct KeptSpec {
  std::string text;
  ExperimentSpec spec;  // empty if the text is not one
};

// That of the study: as it was run without changes on the command line or, if it never was, as it was run last. Empty
// if there is none, or none that can be read, or if it has more than 1 MiB.
KeptSpec LoadKeptSpec(const Store& store, const std::string& study);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_KEPT_SPEC_H_
