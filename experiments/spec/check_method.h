// Checks that the parts of a method fit together.
#ifndef OPENSET_EXPERIMENTS_SPEC_CHECK_METHOD_H_
#define OPENSET_EXPERIMENTS_SPEC_CHECK_METHOD_H_

#include <vector>

#include "core/proto/proto_rules.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// Returns the problems: a loss term without the open-set source or the extra output that it needs; a source that no
// term uses; pairs of slots from a source that has none; normalisation values whose number is not that of the channels;
// no training for a model that is not imported, or settings of a training without a training; a score that needs
// outputs that a script doesn't give; images that are too small for the model, or whose channels an augmentation
// doesn't support. Precondition: the method obeys its schema's rules and has its defaults filled in.
std::vector<FieldProblem> FindMethodProblems(const MethodSpec& method);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_CHECK_METHOD_H_
