// Words of command lines that openset prints or writes for a shell.
#ifndef OPENSET_CORE_TEXT_SHELL_WORD_H_
#define OPENSET_CORE_TEXT_SHELL_WORD_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace openset {

// The text in single quotes: one word for a POSIX shell, whatever is in it.
inline std::string ShellWord(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_SHELL_WORD_H_
