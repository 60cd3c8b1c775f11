// The store keeps the spec of each study as it was last run, next to its reports, for readers who only have the store.
#ifndef OPENSET_EXPERIMENTS_STUDY_KEPT_SPEC_H_
#define OPENSET_EXPERIMENTS_STUDY_KEPT_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/store/store.h"

namespace openset {

// Writes the spec to reports/REPORT_NAME/spec.textproto: the text of its file or, if the command line changed it, the
// lines of ChangedSpecLines(). Errors: those of writing.
absl::Status KeepSpec(const Experiment& experiment, const Store& store, const std::string& report_name);

struct KeptSpec {
  std::string text;
  ExperimentSpec spec;  // empty if the text is not one
};

// The spec as it was run without changes by the command line or, if there was no such run, as it was run last. Empty if
// there is none, if it is no spec, or if it is larger than 1 MiB. Errors: those of IsReadFailure()
// (experiments/store/store.h).
absl::StatusOr<KeptSpec> LoadKeptSpec(const Store& store, const std::string& study);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_KEPT_SPEC_H_
