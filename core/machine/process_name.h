// Names a process of any machine, for use in file names: HOST.SPACE.PID.NUMBER. SPACE is ProcessSpace()
// (core/machine/machine.h), 8 hexadecimal digits. The number distinguishes several names with the same process id.
#ifndef OPENSET_CORE_MACHINE_PROCESS_NAME_H_
#define OPENSET_CORE_MACHINE_PROCESS_NAME_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace openset {

struct ProcessName {
  std::string host;  // letters, digits, '.', '-', '_'
  std::string space;
  pid_t pid = 0;  // at least 1
  uint64_t number = 0;

  // Whether host and process space are this process's, so that `pid` identifies the process here.
  bool IsHere() const;
};

// Parses a name; absent if it isn't one. A name has one spelling: no signs, blanks or leading zeros.
std::optional<ProcessName> ParseProcessName(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_CORE_MACHINE_PROCESS_NAME_H_
