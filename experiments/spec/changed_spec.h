// An experiment as the command line changed it, as text.
#ifndef OPENSET_EXPERIMENTS_SPEC_CHANGED_SPEC_H_
#define OPENSET_EXPERIMENTS_SPEC_CHANGED_SPEC_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "experiments/spec/experiment.proto.h"

namespace openset {

struct SpecLine {
  std::string text;
  bool changed = false;  // it is not in the spec as written
};

// The lines of ToText() of `changed`, what ChangeSpec() made of `written`. The fields of methods that `laid_over`
// (SpecChanges::Texts()) sets are in its `override`; a flag whose place is not in it (a loss term that only the
// methods' files have) is a line of its own, a comment.
std::vector<SpecLine> ChangedSpecLines(const ExperimentSpec& written, ExperimentSpec changed,
                                       absl::Span<const std::string> laid_over);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_CHANGED_SPEC_H_
