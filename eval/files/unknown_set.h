// One of several sets of unknown samples.
#ifndef OPENSET_EVAL_FILES_UNKNOWN_SET_H_
#define OPENSET_EVAL_FILES_UNKNOWN_SET_H_

#include <string>

#include "absl/status/statusor.h"
#include "eval/files/sample_set.h"

namespace openset {

// All known samples and those of one set of unknown ones, in their order, without groups.
// Errors: kInvalidArgument for samples without sets, or with the known names of sets; for an array that does not have a
// row for each sample.
absl::StatusOr<SampleSet> OnlyUnknownSet(const SampleSet& samples, const std::string& set);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_UNKNOWN_SET_H_
