#include "experiments/spec/axis.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/proto/field_path.h"
#include "core/status_macros.h"

namespace openset {

bool AppliesTo(const Axis& axis, absl::string_view method) {
  return axis.method_size() == 0 || absl::c_linear_search(axis.method(), method);
}

absl::Status SetAxis(const Axis& axis, const std::string& value, MethodSpec* method) {
  OPENSET_RETURN_IF_ERROR(SetField(axis.path(), value, method));
  for (const std::string& path : axis.also()) OPENSET_RETURN_IF_ERROR(SetField(path, value, method));
  return absl::OkStatus();
}

std::string AxisLabel(absl::string_view value) {
  value = absl::StripAsciiWhitespace(value);
  if (absl::StartsWith(value, "{") && absl::EndsWith(value, "}")) {
    value = absl::StripAsciiWhitespace(value.substr(1, value.size() - 2));
  }
  if (value.size() > 2) absl::ConsumeSuffix(&value, "{}");
  return std::string(absl::StripTrailingAsciiWhitespace(value));
}

std::string AxisName(const Axis& axis) {
  if (axis.has_name()) return axis.name();
  const std::vector<std::string> parts = absl::StrSplit(axis.path(), '.');
  return parts.back();
}

}  // namespace openset
