// Error messages for unknown names.
#ifndef OPENSET_CORE_TEXT_SUGGEST_H_
#define OPENSET_CORE_TEXT_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace openset {

// "unknown field 'los'; did you mean 'loss'? (known: loss, model, score)". Suggests the name for which `name` is a
// synonym (ResolveSynonym(): "MSP" is 'max_softmax'), otherwise the nearest known name; nothing if each is more than
// two edits, and more than a third of the name's length, from `name`.
std::string UnknownName(absl::string_view kind, absl::string_view name, const std::vector<std::string>& known);

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_SUGGEST_H_
