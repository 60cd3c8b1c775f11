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

// A child process in its own process group. Its standard output and error go to a file, and it shares a channel with
// us: a socket pair that is its file descriptor kChannel. The destructor kills the child and its group and waits at
// most kLongestEnd for their end. They are also killed when the thread that started the child ends.
class Subprocess {
 public:
  static constexpr int kChannel = SpawnOptions::kChannel;
  // A process that is inside the kernel, for example in the driver of a broken device, doesn't die before it returns.
  static constexpr absl::Duration kLongestEnd = absl::Seconds(10);

  // `arguments[0]` is the program's path. Output is appended to the log. `environment` is added to ours.
  // Errors: kNotFound if the program can't be started, kUnavailable for lack of system resources.
  static absl::StatusOr<std::unique_ptr<Subprocess>> Start(const std::vector<std::string>& arguments,
                                                           const std::map<std::string, std::string>& environment,
                                                           const std::string& log_file);
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }
  // Our end of the channel. Reading ends when the child has ended.
  int channel() const { return channel_; }

  // Sends a signal to the child's group.
  void Kill(int signal);
  // Waits for the end of the child.
  ProcessEnd Wait();
  // The same, but waits at most this long. Absent if the child still runs.
  std::optional<ProcessEnd> WaitFor(absl::Duration at_most);
  // Whether the child and all of its group have ended, including processes that nobody has waited for.
  bool GroupHasEnded();

 private:
  Subprocess(pid_t pid, int channel) : pid_(pid), channel_(channel) {}

  pid_t pid_;
  int channel_;
  std::optional<ProcessEnd> end_;  // once it was waited for
};

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_SUBPROCESS_H_
