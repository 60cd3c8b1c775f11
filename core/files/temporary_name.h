// Parses the names that TemporaryName() (core/files/files.h) returns.
#ifndef OPENSET_CORE_FILES_TEMPORARY_NAME_H_
#define OPENSET_CORE_FILES_TEMPORARY_NAME_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "core/machine/process_name.h"

namespace openset {

// The process that created the file or folder with this name, NAME.tmp.<host>.<process space>.<pid>.<number>; absent if
// TemporaryName() can't have returned it. `name` is a name, not a path.
std::optional<ProcessName> OwnerOfTemporary(absl::string_view name);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_TEMPORARY_NAME_H_
