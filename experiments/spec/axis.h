// A swept field: setting it, and what tables call it and its values.
#ifndef OPENSET_EXPERIMENTS_SPEC_AXIS_H_
#define OPENSET_EXPERIMENTS_SPEC_AXIS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// Gives all fields of the axis the value. Errors: those of SetField (core/proto/field_path.h).
absl::Status SetAxis(const Axis& axis, const std::string& value, MethodSpec* method);

// The axis's own name, or the last one of its path.
std::string AxisName(const Axis& axis);

// "{ energy {} }" and "energy {}" are "energy".
std::string AxisLabel(absl::string_view value);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_AXIS_H_
