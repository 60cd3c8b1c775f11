#include "experiments/spec/describe.h"

#include "absl/strings/str_cat.h"
#include "core/text/one_line.h"
#include "data/task.pb.h"
#include "experiments/spec/method.proto.h"

namespace openset {

std::string LevelText(const Trial& trial) {
  if (!trial.is_of_levels()) return "";
  int classes = 0;
  for (const UnknownGroup& group : trial.data().test_unknown()) classes += group.selection().class_id_size();
  return absl::StrCat(classes, classes == 1 ? " unknown class" : " unknown classes");
}

std::string Describe(const Trial& trial) {
  std::string text =
      absl::StrCat(trial.method().name(), " on ", trial.task(), ", split ", trial.split(), ", seed ", trial.seed());
  if (trial.is_of_levels()) absl::StrAppend(&text, ", ", LevelText(trial));
  for (const AxisValue& axis : trial.axis()) absl::StrAppend(&text, ", ", axis.name(), " ", axis.value());
  if (const int epochs = trial.method().training().stop_after_epochs(); epochs > 0) {
    absl::StrAppend(&text, ", stopped after ", epochs, epochs == 1 ? " epoch" : " epochs");
  }
  return OneLine(text);  // values of axes may have several
}

}  // namespace openset
