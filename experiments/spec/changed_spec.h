// The text of a study as changed by the command line.
#ifndef OPENSET_EXPERIMENTS_SPEC_CHANGED_SPEC_H_
#define OPENSET_EXPERIMENTS_SPEC_CHANGED_SPEC_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "experiments/spec/experiment.proto.h"

namespace openset {

struct SpecLine {
  std::string text;
  bool changed = false;  // whether the line differs from the spec as written
};

// Returns the lines of ToText() of `changed`, which ChangeSpec() computed from `written`. Method fields that
// `laid_over` (SpecChanges::Texts()) sets are in its `override`. If a flag's field can't be shown there (a loss term
// that only the methods' files have), the flag is a line of its own, a comment.
std::vector<SpecLine> ChangedSpecLines(const ExperimentSpec& written, ExperimentSpec changed,
                                       absl::Span<const std::string> laid_over);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_CHANGED_SPEC_H_
