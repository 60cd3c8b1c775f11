// Methods as trials have them: with a grid's values set, every default filled in and every limit checked.
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

// Fills in the method's defaults. Returns what is wrong with it then: values that break the schema's rules; if there
// are none, parts that do not fit each other (experiments/spec/check_method.h).
std::vector<FieldProblem> ResolveMethod(MethodSpec* method);

struct GridAxis {
  const Axis* axis;
  std::string where;        // "FILE:LINE: axis[0]"
  bool is_labelled = true;  // its value is among the trial's axis values
};

// "FILE:LINE: path" of a field of the method; `axis` is the place of the axis that set it, -1 if none did.
using LocateField = std::function<std::string(int axis, const std::string& path)>;

// `base` with each combination of the axes' values, resolved, in order; the last axis changes fastest. Without axes,
// `base` itself.
// Errors: kInvalidArgument, a line a problem, for the first combination that has some: a value that does not fit its
// field (core/proto/field_path.h), at the axis; what ResolveMethod() finds, where `locate` says.
absl::StatusOr<std::vector<std::shared_ptr<const TrialMethod>>> ResolveGrid(const TrialMethod& base,
                                                                            const std::vector<GridAxis>& axes,
                                                                            const LocateField& locate);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_GRID_H_
