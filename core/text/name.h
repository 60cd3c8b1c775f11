// Names of methods, presets, tasks, studies, data sets, parts of data sets, and groups of samples.
#ifndef OPENSET_CORE_TEXT_NAME_H_
#define OPENSET_CORE_TEXT_NAME_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace openset {

inline constexpr size_t kMostNameBytes = 100;

// Whether `text` is [A-Za-z0-9][A-Za-z0-9_.+-]* of at most kMostNameBytes bytes: such a name is safe in a path, in a
// shell, in a table and on a terminal.
bool IsName(absl::string_view text);

// A name that is like `text`: "Meine Fotos" is "Meine_Fotos". Each other character is '_'; "folder" if there is no
// letter or digit.
std::string NameLike(absl::string_view text);

// The problem with a name, or "" if there is none: "'a b' is not a valid name: use letters, digits, ...".
std::string NameProblem(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_NAME_H_
