// Swept fields: sets their values, and names the fields and values for tables.
#ifndef OPENSET_EXPERIMENTS_SPEC_AXIS_H_
#define OPENSET_EXPERIMENTS_SPEC_AXIS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// Sets all fields of the axis to the value. Errors: those of SetField (core/proto/field_path.h).
absl::Status SetAxis(const Axis& axis, const std::string& value, MethodSpec* method);

// Returns the axis's name, or the last name of its path if it has none.
std::string AxisName(const Axis& axis);

// Returns the value for tables: "energy" for "{ energy {} }" and "energy {}".
std::string AxisLabel(absl::string_view value);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_AXIS_H_
