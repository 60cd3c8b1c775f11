// `openset task attributes` and `openset task wordnet`: splits by rules. They print parts of a task's file.
#ifndef OPENSET_TOOLS_CLI_TASK_TASK_RULES_H_
#define OPENSET_TOOLS_CLI_TASK_TASK_RULES_H_

#include "absl/status/status.h"

namespace openset {

// Reads --matrix, --known (classes, or a number of them to draw by --seed) and --levels.
absl::Status RunAttributeRule();

// Reads --wordnet, --wnids and one of: --known (finds near and external classes; --near and --seed draw some of the
// near ones), --overlap (finds classes at or below these synsets), or --far (finds class names of another data set that
// are far; --variants).
absl::Status RunWordNetRule();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TASK_TASK_RULES_H_
