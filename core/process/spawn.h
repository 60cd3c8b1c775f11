// Starts programs and reports how they ended. Only this code forks.
#ifndef OPENSET_CORE_PROCESS_SPAWN_H_
#define OPENSET_CORE_PROCESS_SPAWN_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace openset {

// How a process ended.
struct ProcessEnd {
  int exit_code = 0;  // if no signal ended it
  int signal = 0;     // that ended it, or 0
  bool dumped_core = false;
  rusage usage = {};  // its CPU time, largest memory and so on, with those of its children that it waited for

  bool ok() const { return signal == 0 && exit_code == 0; }
  // "exited with 3", "was killed by signal 11 (Segmentation fault)".
  std::string Text() const;
  // OK for exit code 0, else kAborted "NAME exited with 3"; without `name`, Text() alone.
  absl::Status ToStatus(const std::string& name = "") const;
};

struct SpawnOptions {
  static constexpr int kChannel = 3;

  std::map<std::string, std::string> environment;  // added to ours
  // Our descriptors that become its standard output, standard error and descriptor kChannel. With -1, it inherits our
  // standard output or standard error, and gets no channel.
  int output = -1;
  int error = -1;
  int channel = -1;
  bool has_own_group = false;  // else Ctrl-C reaches it too
  // In the program, writing more than this to a file fails (EFBIG).
  int64_t max_file_bytes = std::numeric_limits<int64_t>::max();
};

// Starts `arguments[0]`, looked up in PATH unless it has a '/'. Its standard input is empty, no signal is blocked, and
// signals that this program handles have their default handlers. It is killed when the thread that started it ends. The
// caller must wait for it. Errors: kNotFound if it can't be started, kUnavailable for lack of system resources.
absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& arguments, const SpawnOptions& options = {});

// Waits for the end of a child of this process, at most this long; absent if it still runs.
std::optional<ProcessEnd> WaitForEnd(pid_t child, absl::Duration at_most);
ProcessEnd WaitForEnd(pid_t child);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_SPAWN_H_
