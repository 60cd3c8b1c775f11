// A swept field: sets it, and names it and its values for tables.
#ifndef OPENSET_EXPERIMENTS_SPEC_AXIS_H_
#define OPENSET_EXPERIMENTS_SPEC_AXIS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// Whether the axis sweeps the method of this name.
bool AppliesTo(const Axis& axis, absl::string_view method);

// Sets all fields of the axis to the value. Errors: those of SetField (core/proto/field_path.h).
absl::Status SetAxis(const Axis& axis, const std::string& value, MethodSpec* method);

// The axis's own name, or the last part of its path.
std::string AxisName(const Axis& axis);

// Shortens a value: "{ energy {} }" and "energy {}" become "energy".
std::string AxisLabel(absl::string_view value);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_AXIS_H_
