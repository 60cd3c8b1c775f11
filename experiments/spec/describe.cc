#include "experiments/spec/describe.h"

#include "absl/strings/str_cat.h"

namespace openset {

std::string Describe(const Trial& trial) {
  std::string text =
      absl::StrCat(trial.method().name(), " on ", trial.task(), ", split ", trial.split(), ", seed ", trial.seed());
  for (const AxisValue& axis : trial.axis()) absl::StrAppend(&text, ", ", axis.name(), " ", axis.value());
  return text;
}

}  // namespace openset
