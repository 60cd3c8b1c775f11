// Resolves the methods of trials: sets the values of a grid, fills in all defaults and checks all limits.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_GRID_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_GRID_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/proto/proto_rules.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.h"

namespace openset {

// Fills in the method's defaults. Returns the problems of the result: values that break the schema's rules or, if there
// are none, parts that do not fit each other (experiments/spec/check_method.h).
std::vector<FieldProblem> ResolveMethod(MethodSpec* method);

struct GridAxis {
  const Axis* axis;
  std::string where;        // "FILE:LINE: axis[0]"
  bool is_labelled = true;  // whether its value is among the trial's axis values
};

// Returns "FILE:LINE: path" of a field of the method. `axis` is the index of the axis that set it, -1 if none did.
using LocateField = std::function<std::string(int axis, const std::string& path)>;

// Returns `base` with each combination of the axes' values, resolved, in order; the last axis varies fastest. Without
// axes, returns `base` resolved. Errors: kInvalidArgument, one line per problem, for the first combination that has
// any: a value that does not fit its field (core/proto/field_path.h), located at the axis; problems that
// ResolveMethod() finds, located by `locate`.
absl::StatusOr<std::vector<std::shared_ptr<const TrialMethod>>> ResolveGrid(const TrialMethod& base,
                                                                            const std::vector<GridAxis>& axes,
                                                                            const LocateField& locate);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_GRID_H_
