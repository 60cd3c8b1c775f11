// Resolves methods for trials: sets a grid's values, fills in every default and checks every limit.
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

// Fills in the method's defaults. Returns its problems: values that break the schema's rules; if there are none, parts
// that don't fit each other (experiments/spec/method/check_method.h).
std::vector<FieldProblem> ResolveMethod(MethodSpec* method);

struct GridAxis {
  const Axis* axis;
  std::string where;        // "FILE:LINE: axis[0]"
  bool is_labelled = true;  // whether its value is among the trial's axis values
};

// "FILE:LINE: path" of a field of the method. `axis` is the index of the axis that set it, -1 if none did.
using LocateField = std::function<std::string(int axis, const std::string& path)>;

// Returns `base` with each combination of the axes' values, resolved, in order; the last axis changes fastest. Without
// axes, returns `base` itself.
// Errors: kInvalidArgument, with a line for each problem of the first combination that has some: a value that does not
// fit its field (core/proto/field_path.h), with the position of the axis; problems of ResolveMethod(), with the
// position that `locate` returns.
absl::StatusOr<std::vector<std::shared_ptr<const TrialMethod>>> ResolveGrid(const TrialMethod& base,
                                                                            const std::vector<GridAxis>& axes,
                                                                            const LocateField& locate);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_GRID_H_
