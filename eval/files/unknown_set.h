// Selects one of several groups of unknown samples.
#ifndef OPENSET_EVAL_FILES_UNKNOWN_SET_H_
#define OPENSET_EVAL_FILES_UNKNOWN_SET_H_

#include <string>

#include "absl/status/statusor.h"
#include "eval/files/sample_set.h"

namespace openset {

// All known samples and the unknown samples of one group, in their order, without groups. Errors: kInvalidArgument if
// the samples have no groups, for an unknown group, with the names of the groups, and for an array that does not have a
// row for each sample.
absl::StatusOr<SampleSet> OnlyUnknownSet(const SampleSet& samples, const std::string& set);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_UNKNOWN_SET_H_
