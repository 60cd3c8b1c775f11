// Runs other programs: in the background with a channel, for their output, or until they end.
#ifndef OPENSET_CORE_PROCESS_SUBPROCESS_H_
#define OPENSET_CORE_PROCESS_SUBPROCESS_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace openset {

// ---- The kernel's information about a process of this machine.

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

// Starts programs and reports how they ended. Only this code forks.

// How a process ended.
struct ProcessEnd {
  int exit_code = 0;  // if no signal ended it
  int signal = 0;     // that ended it, or 0
  bool dumped_core = false;
  rusage usage = {};  // its CPU time, largest memory and so on, including the children that it waited for

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

// ---- Runs another program and captures its output.

struct CaptureLimits {
  absl::Duration time = absl::Minutes(2);
  // The limit for standard output, and for standard error. In the program, a write beyond it fails.
  int64_t bytes = int64_t{256} << 20;
};

// Runs `arguments[0]`, looked up in PATH unless it has a '/', with our environment and no input; returns its standard
// output. Errors: kNotFound if it can't be started; kDeadlineExceeded if it exceeds the time limit (it is killed);
// kResourceExhausted if it writes more than the limit; kAborted if it fails, with its exit code and standard error.
absl::StatusOr<std::string> CaptureOutput(const std::vector<std::string>& arguments, const CaptureLimits& limits = {});

// ---- Runs another program and waits for its end.

// Runs `arguments[0]`, looked up in PATH unless it has a '/', with our environment, standard error and process group
// (Ctrl-C reaches it too); standard input is empty, standard output goes to standard error. It is killed if this
// process or the thread that waits for it ends. In the program, writing more than `max_file_bytes` to a file fails
// (EFBIG). Errors: kNotFound if it can't be started.
absl::StatusOr<ProcessEnd> RunToEnd(const std::vector<std::string>& arguments,
                                    int64_t max_file_bytes = std::numeric_limits<int64_t>::max());

// The same, but also returns kAborted if the program fails: "NAME exited with 3", "NAME was killed by signal 2
// (Interrupt)".
absl::Status RunProgram(const std::vector<std::string>& arguments,
                        int64_t max_file_bytes = std::numeric_limits<int64_t>::max());

// ---- Child processes with a message channel.

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
