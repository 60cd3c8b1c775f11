// A process of any machine by a name that is a part of file names: HOST.SPACE.PID.NUMBER. SPACE is ProcessSpace()
// (core/process/machine.h), 8 hexadecimal digits; the number tells several of one process, or of one process id, apart.
#ifndef OPENSET_CORE_PROCESS_PROCESS_NAME_H_
#define OPENSET_CORE_PROCESS_PROCESS_NAME_H_

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

  // Whether it is of this process space of this host, where `pid` means that process.
  bool IsHere() const;
};

// Absent for what is no such name. A name has one spelling: no signs, blanks or leading zeros.
std::optional<ProcessName> ParseProcessName(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_PROCESS_NAME_H_
