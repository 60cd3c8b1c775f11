// The kernel's information about a process of this machine.
#ifndef OPENSET_CORE_PROCESS_PROCESS_STAT_H_
#define OPENSET_CORE_PROCESS_PROCESS_STAT_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace openset {

struct ProcessStat {
  char state;  // 'R' runs, 'S' sleeps, 'D' waits in the kernel, 'T' is stopped, 'Z' and 'X' have ended ...
  pid_t group;
  int64_t cpu_ticks;    // CPU time of all its threads, in clock ticks
  int64_t start_ticks;  // in clock ticks since boot; distinguishes processes with the same id

  // The process has ended, but its parent hasn't waited for it.
  bool has_ended() const { return state == 'Z' || state == 'X'; }
};

// Absent if there is no such process.
std::optional<ProcessStat> StatOf(pid_t process);

// The bytes that a process has read from files and pipes, by read(2); 0 if the system doesn't say.
int64_t BytesReadBy(pid_t process);

// The same as StatOf() from the text of /proc/ID/stat; absent if the text is malformed.
std::optional<ProcessStat> ParseProcessStat(const std::string& text);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_PROCESS_STAT_H_
