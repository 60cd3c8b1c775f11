// Error messages for unknown names.
#ifndef OPENSET_CORE_TEXT_SUGGEST_H_
#define OPENSET_CORE_TEXT_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace openset {

// "unknown field 'los'; did you mean 'loss'? (known: loss, model, score)". Suggests the name for which `name` is a
// synonym (ResolveSynonym(): "MSP" is 'max_softmax'), otherwise the nearest known name; nothing if each is more than
// two edits, and more than a third of the name's length, from `name`. If `all_by`, a command that lists all names, is
// given, and more than 12 are known, names the nearest five: "(known: mcp, ... and 113 others; 'openset list methods'
// shows all)".
std::string UnknownName(absl::string_view kind, absl::string_view name, const std::vector<std::string>& known,
                        absl::string_view all_by = "");

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_SUGGEST_H_
