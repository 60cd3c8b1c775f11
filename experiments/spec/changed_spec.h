// The text of a study as the command line changed it.
#ifndef OPENSET_EXPERIMENTS_SPEC_CHANGED_SPEC_H_
#define OPENSET_EXPERIMENTS_SPEC_CHANGED_SPEC_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "experiments/spec/experiment.proto.h"

namespace openset {

struct SpecLine {
  std::string text;
  bool changed = false;  // the line is not in the spec as written
};

// Returns the lines of ToText() of `changed`, the result of ChangeSpec() on `written`. The fields of methods that
// `laid_over` (SpecChanges::Texts()) sets are in its `override`. If a flag's field can't be there (a loss term that
// only the methods' files have), the flag becomes a comment on its own line.
std::vector<SpecLine> ChangedSpecLines(const ExperimentSpec& written, ExperimentSpec changed,
                                       absl::Span<const std::string> laid_over);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_CHANGED_SPEC_H_
