// Child processes with a message channel.
#ifndef OPENSET_CORE_PROCESS_SUBPROCESS_H_
#define OPENSET_CORE_PROCESS_SUBPROCESS_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/process/spawn.h"

namespace openset {

// A child process in a process group of its own, whose standard output and error go to a file, and that shares a
// channel with us: a socket pair that is its file descriptor kChannel. The child and its group are killed when this
// object goes, which waits at most kLongestEnd for their end, and when the thread that started it dies.
class Subprocess {
 public:
  static constexpr int kChannel = SpawnOptions::kChannel;
  // A process that is within the kernel, in a broken device's driver say, does not die before it leaves it.
  static constexpr absl::Duration kLongestEnd = absl::Seconds(10);

  // `arguments[0]` is the program's path. The log is appended to. `environment` is added to ours.
  // Errors: kNotFound if the program can't be started, kUnavailable for lack of system resources.
  static absl::StatusOr<std::unique_ptr<Subprocess>> Start(const std::vector<std::string>& arguments,
                                                           const std::map<std::string, std::string>& environment,
                                                           const std::string& log_file);
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }
  // Our end of the channel. Reading ends when the child is gone.
  int channel() const { return channel_; }

  // Sends a signal to the child's group.
  void Kill(int signal);
  // Waits for the end of the child.
  ProcessEnd Wait();
  // The same, for at most so long; absent if the child still lives.
  std::optional<ProcessEnd> WaitFor(absl::Duration at_most);
  // Whether the child and all of its group have ended. Those that have, and that nobody has waited for, count as ended.
  bool GroupHasEnded();

 private:
  Subprocess(pid_t pid, int channel) : pid_(pid), channel_(channel) {}

  pid_t pid_;
  int channel_;
  std::optional<ProcessEnd> end_;  // once it was waited for
};

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_SUBPROCESS_H_
