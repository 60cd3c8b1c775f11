#include "core/process/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/files/closed_folder.h"
#include "core/files/files.h"
#include "core/process/process_stat.h"

namespace openset {

absl::StatusOr<std::unique_ptr<Subprocess>> Subprocess::Start(const std::vector<std::string>& arguments,
                                                              const std::map<std::string, std::string>& environment,
                                                              const std::string& log_file) {
  const auto system_error = [](absl::string_view what) {
    return absl::UnavailableError(absl::StrCat("cannot ", what, ": ", std::strerror(errno)));
  };
  // Does not block if the file is a pipe without a reader.
  const int log = OpenFile(log_file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
  if (log < 0) return system_error(absl::StrCat("open ", log_file));
  const absl::Cleanup close_log = [log] { close(log); };
  int channel[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) return system_error("make a channel");
  SpawnOptions options;
  options.environment = environment;
  options.output = log;
  options.error = log;
  options.channel = channel[1];
  options.has_own_group = true;
  const absl::StatusOr<pid_t> child = Spawn(arguments, options);
  close(channel[1]);
  if (child.ok()) return std::unique_ptr<Subprocess>(new Subprocess(*child, channel[0]));
  close(channel[0]);
  return child.status();
}

Subprocess::~Subprocess() {
  close(channel_);
  Kill(SIGKILL);
  WaitFor(kLongestEnd);
}

void Subprocess::Kill(int signal) {
  if (!end_.has_value()) kill(-pid_, signal);
}

ProcessEnd Subprocess::Wait() { return *WaitFor(absl::InfiniteDuration()); }

std::optional<ProcessEnd> Subprocess::WaitFor(absl::Duration at_most) {
  if (end_.has_value()) return end_;
  end_ = WaitForEnd(pid_, at_most);
  if (end_.has_value()) kill(-pid_, SIGKILL);  // the rest of its group
  return end_;
}

bool Subprocess::GroupHasEnded() {
  if (!WaitFor(absl::ZeroDuration()).has_value()) return false;
  if (kill(-pid_, 0) != 0 && errno == ESRCH) return true;
  for (const std::string& entry : ListFolder("/proc").value_or(std::vector<std::string>())) {
    pid_t process = 0;
    if (!absl::SimpleAtoi(entry, &process)) continue;
    const std::optional<ProcessStat> stat = StatOf(process);
    if (stat.has_value() && stat->group == pid_ && !stat->has_ended()) return false;
  }
  return true;
}

}  // namespace openset
