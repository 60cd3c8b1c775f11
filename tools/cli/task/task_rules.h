// `openset task attributes` and `openset task wordnet`: splits by rules. They print parts of a task's file.
#ifndef OPENSET_TOOLS_CLI_TASK_TASK_RULES_H_
#define OPENSET_TOOLS_CLI_TASK_TASK_RULES_H_

#include "absl/status/status.h"

namespace openset {

// By the flags --matrix, --known (classes, or a number that is drawn by --seed) and --levels.
absl::Status RunAttributeRule();

// By --wordnet, --wnids and: --known (near and external classes; --near, --seed draw some of the near ones),
// --overlap (classes at or below these synsets), or --far (class names of another data set that are far; --variants).
absl::Status RunWordNetRule();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TASK_TASK_RULES_H_
