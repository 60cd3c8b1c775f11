// What the parts of a method need of each other.
#ifndef OPENSET_EXPERIMENTS_SPEC_CHECK_METHOD_H_
#define OPENSET_EXPERIMENTS_SPEC_CHECK_METHOD_H_

#include <vector>

#include "core/proto/proto_rules.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// Where the parts of a method don't fit: a loss term without the open-set source or the extra output it needs, a source
// that no term uses, pairs of slots from a source that has none, normalisation values that are not one a channel; no
// training for a model that is not imported, or parts for a training that is not there; a score that needs more than
// a script gives; images that are too small for the model, or have channels that an augmentation knows nothing of.
// Precondition: the method obeys its schema's rules and has its defaults filled in.
std::vector<FieldProblem> FindMethodProblems(const MethodSpec& method);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_CHECK_METHOD_H_
