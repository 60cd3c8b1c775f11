// Checks that the parts of a method fit each other.
#ifndef OPENSET_EXPERIMENTS_SPEC_METHOD_CHECK_METHOD_H_
#define OPENSET_EXPERIMENTS_SPEC_METHOD_CHECK_METHOD_H_

#include <vector>

#include "core/proto/proto_rules.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// Returns a problem for each part of a method that doesn't fit the others:
//   * a loss term without the open-set source or the extra output that it needs, a source that no term uses, pairs of
//     slots from a source without slots;
//   * a pass, with or without the open set, that has no term in the first epoch;
//   * normalisation values for another number of channels, images that are too small for the model, or whose channels
//     an augmentation doesn't support;
//   * a model that is neither imported nor trained, or parts for a training that is absent;
//   * a score that needs more than a script's outputs.
// Precondition: the method obeys its schema's rules and has its defaults filled in.
std::vector<FieldProblem> FindMethodProblems(const MethodSpec& method);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_METHOD_CHECK_METHOD_H_
